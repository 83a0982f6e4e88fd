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

// Integer to floating point, with the same four suffixes.
namespace mfmasim {

// A magnitude and a sign; `away` from zero or towards it where the significand of `digits` bits cannot hold it.
template <typename F_, int digits>
MFMASIM_MEMBER_DEVICE F_ directed(uint64_t magnitude, bool negative, bool away) {
  int length = magnitude ? 64 - __builtin_clzll(magnitude) : 0, drop = length > digits ? length - digits : 0;
  uint64_t kept = magnitude >> drop << drop;
  F_ value = (F_)kept;
  if (away && kept != magnitude) value += (F_)((uint64_t)1 << drop);
  return negative ? -value : value;
}
template <typename F_, int digits, typename I_>
MFMASIM_MEMBER_DEVICE F_ directed_integer(I_ x, bool away_below, bool away_above) {
  bool negative = x < 0;
  return directed<F_, digits>(negative ? 0 - (uint64_t)x : (uint64_t)x, negative, negative ? away_below : away_above);
}

}  // namespace mfmasim

#define MFMASIM_FROM_INTEGER(name, from, to, digits)                                                              \
  MFMASIM_DEVICE to __##name##_rn(from x) { return (to)x; }                                                       \
  MFMASIM_DEVICE to __##name##_rz(from x) { return mfmasim::directed_integer<to, digits>(x, false, false); }      \
  MFMASIM_DEVICE to __##name##_rd(from x) { return mfmasim::directed_integer<to, digits>(x, true, false); }       \
  MFMASIM_DEVICE to __##name##_ru(from x) { return mfmasim::directed_integer<to, digits>(x, false, true); }
MFMASIM_FROM_INTEGER(int2float, int, float, 24)
MFMASIM_FROM_INTEGER(uint2float, unsigned int, float, 24)
MFMASIM_FROM_INTEGER(ll2float, long long, float, 24)
MFMASIM_FROM_INTEGER(ull2float, unsigned long long, float, 24)
MFMASIM_FROM_INTEGER(ll2double, long long, double, 53)
MFMASIM_FROM_INTEGER(ull2double, unsigned long long, double, 53)
#undef MFMASIM_FROM_INTEGER
MFMASIM_DEVICE double __int2double_rn(int x) { return (double)x; }
MFMASIM_DEVICE double __uint2double_rn(unsigned int x) { return (double)x; }

// Double to single: the nearest one, moved by one unit where it lies on the wrong side.
MFMASIM_DEVICE float __double2float_rn(double x) { return (float)x; }
MFMASIM_DEVICE float __double2float_rz(double x) {
  float near = (float)x;
  bool beyond = __builtin_fabs((double)near) > __builtin_fabs(x);
  return mfmasim::bits<float>(mfmasim::bits<uint32_t>(near) - (beyond ? 1 : 0));
}
MFMASIM_DEVICE float __double2float_rd(double x) {
  float inner = __double2float_rz(x);
  return (double)inner > x ? mfmasim::bits<float>(mfmasim::bits<uint32_t>(inner == 0.0f ? -0.0f : inner) + 1) : inner;
}
MFMASIM_DEVICE float __double2float_ru(double x) { return -__double2float_rd(-x); }

namespace mfmasim {

// Single to half in the same way; the sign of zero is that of x.
MFMASIM_MEMBER _Float16 half_towards_zero(float x) {
  _Float16 near = (_Float16)x;
  bool beyond = __builtin_fabsf((float)near) > __builtin_fabsf(x);
  return bits<_Float16>((unsigned short)(bits<unsigned short>(near) - beyond));
}
MFMASIM_MEMBER _Float16 half_down(float x) {
  _Float16 inner = half_towards_zero(x);
  return bits<_Float16>((unsigned short)(bits<unsigned short>(inner) + ((float)inner > x)));
}
MFMASIM_MEMBER _Float16 half_up(float x) { return -half_down(-x); }

}  // namespace mfmasim
