// Bits of one type read as another, and conversions with a stated rounding.
#pragma once

#include <mfmasim/qualifiers.h>
#include <stdint.h>

namespace mfmasim {

template <typename To, typename From>
constexpr MFMASIM_MEMBER To bits(From value) {
  return __builtin_bit_cast(To, value);
}

}  // namespace mfmasim

MFMASIM_HOST_DEVICE int __float_as_int(float x) { return mfmasim::bits<int>(x); }
MFMASIM_HOST_DEVICE unsigned int __float_as_uint(float x) { return mfmasim::bits<unsigned int>(x); }
MFMASIM_HOST_DEVICE float __int_as_float(int x) { return mfmasim::bits<float>(x); }
MFMASIM_HOST_DEVICE float __uint_as_float(unsigned int x) { return mfmasim::bits<float>(x); }
MFMASIM_HOST_DEVICE long long __double_as_longlong(double x) { return mfmasim::bits<long long>(x); }
MFMASIM_HOST_DEVICE double __longlong_as_double(long long x) { return mfmasim::bits<double>(x); }
MFMASIM_HOST_DEVICE int __double2hiint(double x) { return (int)(mfmasim::bits<uint64_t>(x) >> 32); }
MFMASIM_HOST_DEVICE int __double2loint(double x) { return (int)mfmasim::bits<uint64_t>(x); }
MFMASIM_HOST_DEVICE double __hiloint2double(int high, int low) {
  return mfmasim::bits<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}

// Floating point to integer: rn to nearest even, rz to zero, rd down, ru up.
#define MFMASIM_TO_INTEGER(name, from, to, suffix)                                   \
  MFMASIM_DEVICE to __##name##_rn(from x) { return (to)__builtin_rint##suffix(x); }  \
  MFMASIM_DEVICE to __##name##_rz(from x) { return (to)__builtin_trunc##suffix(x); } \
  MFMASIM_DEVICE to __##name##_rd(from x) { return (to)__builtin_floor##suffix(x); } \
  MFMASIM_DEVICE to __##name##_ru(from x) { return (to)__builtin_ceil##suffix(x); }
MFMASIM_TO_INTEGER(float2int, float, int, f)
MFMASIM_TO_INTEGER(float2uint, float, unsigned int, f)
MFMASIM_TO_INTEGER(float2ll, float, long long, f)
MFMASIM_TO_INTEGER(float2ull, float, unsigned long long, f)
MFMASIM_TO_INTEGER(double2int, double, int, )
MFMASIM_TO_INTEGER(double2uint, double, unsigned int, )
MFMASIM_TO_INTEGER(double2ll, double, long long, )
MFMASIM_TO_INTEGER(double2ull, double, unsigned long long, )
#undef MFMASIM_TO_INTEGER

MFMASIM_DEVICE float __int2float_rn(int x) { return (float)x; }
MFMASIM_DEVICE float __uint2float_rn(unsigned int x) { return (float)x; }
MFMASIM_DEVICE float __ll2float_rn(long long x) { return (float)x; }
MFMASIM_DEVICE float __ull2float_rn(unsigned long long x) { return (float)x; }
MFMASIM_DEVICE double __int2double_rn(int x) { return (double)x; }
MFMASIM_DEVICE double __uint2double_rn(unsigned int x) { return (double)x; }
MFMASIM_DEVICE double __ll2double_rn(long long x) { return (double)x; }
MFMASIM_DEVICE double __ull2double_rn(unsigned long long x) { return (double)x; }
MFMASIM_DEVICE float __double2float_rn(double x) { return (float)x; }
