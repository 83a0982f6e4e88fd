// __hip_bfloat16 and __hip_bfloat162: the upper 16 bits of a float. Conversion from float rounds to nearest even;
// arithmetic is done in single precision and rounded back.
#pragma once

#include <hip/hip_fp16.h>

struct __hip_bfloat16_raw {
  unsigned short x;
};

namespace mfmasim {

// Nearest even on the upper half; a NaN keeps its sign and upper payload and becomes quiet.
constexpr MFMASIM_MEMBER unsigned short bfloat16_of(float value) {
  uint32_t word = bits<uint32_t>(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(word >> 16 | 0x40);
  return (unsigned short)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
constexpr MFMASIM_MEMBER float float_of_bfloat16(unsigned short code) { return bits<float>((uint32_t)code << 16); }

}  // namespace mfmasim

struct __hip_bfloat16 {
  unsigned short __x;
  __hip_bfloat16() = default;
  constexpr MFMASIM_MEMBER __hip_bfloat16(__hip_bfloat16_raw raw) : __x(raw.x) {}
  constexpr MFMASIM_MEMBER __hip_bfloat16(__bf16 value) : __x(mfmasim::bits<unsigned short>(value)) {}
  constexpr MFMASIM_MEMBER __hip_bfloat16(float value) : __x(mfmasim::bfloat16_of(value)) {}
#define MFMASIM_FROM(T) \
  constexpr MFMASIM_MEMBER __hip_bfloat16(T value) : __x(mfmasim::bfloat16_of((float)value)) {}
  MFMASIM_FROM(double)
  MFMASIM_FROM(short)
  MFMASIM_FROM(unsigned short)
  MFMASIM_FROM(int)
  MFMASIM_FROM(unsigned int)
  MFMASIM_FROM(long)
  MFMASIM_FROM(unsigned long)
  MFMASIM_FROM(long long)
  MFMASIM_FROM(unsigned long long)
#undef MFMASIM_FROM
  constexpr MFMASIM_MEMBER operator float() const { return mfmasim::float_of_bfloat16(__x); }
  constexpr MFMASIM_MEMBER explicit operator __bf16() const { return mfmasim::bits<__bf16>(__x); }
  constexpr MFMASIM_MEMBER operator __hip_bfloat16_raw() const { return {__x}; }
  constexpr MFMASIM_MEMBER explicit operator bool() const { return (__x & 0x7fff) != 0; }
#define MFMASIM_TO(T) \
  constexpr MFMASIM_MEMBER explicit operator T() const { return (T)(float)*this; }
  MFMASIM_TO(double)
  MFMASIM_TO(char)
  MFMASIM_TO(signed char)
  MFMASIM_TO(unsigned char)
  MFMASIM_TO(short)
  MFMASIM_TO(unsigned short)
  MFMASIM_TO(int)
  MFMASIM_TO(unsigned int)
  MFMASIM_TO(long)
  MFMASIM_TO(unsigned long)
  MFMASIM_TO(long long)
  MFMASIM_TO(unsigned long long)
#undef MFMASIM_TO
#define MFMASIM_OPERATOR(op)                                                                             \
  MFMASIM_MEMBER __hip_bfloat16 &operator op##=(__hip_bfloat16 other) { return *this = *this op other; } \
  friend MFMASIM_MEMBER __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op (float)b; }
  MFMASIM_OPERATOR(+)
  MFMASIM_OPERATOR(-)
  MFMASIM_OPERATOR(*)
  MFMASIM_OPERATOR(/)
#undef MFMASIM_OPERATOR
#define MFMASIM_COMPARE(op) \
  friend MFMASIM_MEMBER bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) { return (float)a op (float)b; }
  MFMASIM_COMPARE(==)
  MFMASIM_COMPARE(!=)
  MFMASIM_COMPARE(<)
  MFMASIM_COMPARE(<=)
  MFMASIM_COMPARE(>)
  MFMASIM_COMPARE(>=)
#undef MFMASIM_COMPARE
  MFMASIM_MEMBER __hip_bfloat16 operator+() const { return *this; }
  MFMASIM_MEMBER __hip_bfloat16 operator-() const { return __hip_bfloat16_raw{(unsigned short)(__x ^ 0x8000)}; }
  MFMASIM_STEPS(__hip_bfloat16, __hip_bfloat16(1.0f))
};
static_assert(sizeof(__hip_bfloat16) == 2, "mfmasim: __hip_bfloat16 is 16 bits");

struct __hip_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(4))) __hip_bfloat162 {
  __hip_bfloat16 x, y;
  __hip_bfloat162() = default;
  constexpr MFMASIM_MEMBER __hip_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) : x(a), y(b) {}
  constexpr MFMASIM_MEMBER __hip_bfloat162(__hip_bfloat162_raw raw)
      : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
  constexpr MFMASIM_MEMBER operator __hip_bfloat162_raw() const { return {x.__x, y.__x}; }
  MFMASIM_MEMBER operator float2() const { return make_float2((float)x, (float)y); }
#define MFMASIM_OPERATOR(op)                                                                               \
  MFMASIM_MEMBER __hip_bfloat162 &operator op##=(__hip_bfloat162 other) { return *this = *this op other; } \
  friend MFMASIM_MEMBER __hip_bfloat162 operator op(__hip_bfloat162 a, __hip_bfloat162 b) {                \
    return {a.x op b.x, a.y op b.y};                                                                       \
  }
  MFMASIM_OPERATOR(+)
  MFMASIM_OPERATOR(-)
  MFMASIM_OPERATOR(*)
  MFMASIM_OPERATOR(/)
#undef MFMASIM_OPERATOR
  MFMASIM_MEMBER __hip_bfloat162 operator-() const { return {-x, -y}; }
  friend MFMASIM_MEMBER bool operator==(__hip_bfloat162 a, __hip_bfloat162 b) { return a.x == b.x && a.y == b.y; }
  friend MFMASIM_MEMBER bool operator!=(__hip_bfloat162 a, __hip_bfloat162 b) { return !(a == b); }
#define MFMASIM_COMPARE(op) \
  friend MFMASIM_MEMBER bool operator op(__hip_bfloat162 a, __hip_bfloat162 b) { return a.x op b.x && a.y op b.y; }
  MFMASIM_COMPARE(<)
  MFMASIM_COMPARE(<=)
  MFMASIM_COMPARE(>)
  MFMASIM_COMPARE(>=)
#undef MFMASIM_COMPARE
  MFMASIM_STEPS(__hip_bfloat162, __hip_bfloat162(__hip_bfloat16(1.0f), __hip_bfloat16(1.0f)))
};
static_assert(sizeof(__hip_bfloat162) == 4, "mfmasim: __hip_bfloat162 is 32 bits");

// Conversions.
MFMASIM_HOST_DEVICE __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
MFMASIM_HOST_DEVICE __hip_bfloat16 __float2bfloat16_rn(float x) { return __hip_bfloat16(x); }
MFMASIM_HOST_DEVICE __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16(x); }
MFMASIM_HOST_DEVICE float __bfloat162float(__hip_bfloat16 x) { return (float)x; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __float22bfloat162_rn(float2 x) {
  return {__hip_bfloat16(x.x), __hip_bfloat16(x.y)};
}
MFMASIM_HOST_DEVICE __hip_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__hip_bfloat16(x), __hip_bfloat16(y)};
}
MFMASIM_HOST_DEVICE __hip_bfloat162 __float2bfloat162_rn(float x) { return {__hip_bfloat16(x), __hip_bfloat16(x)}; }
MFMASIM_HOST_DEVICE float2 __bfloat1622float2(__hip_bfloat162 x) { return make_float2((float)x.x, (float)x.y); }
MFMASIM_HOST_DEVICE __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return {x, x}; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
MFMASIM_HOST_DEVICE __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
MFMASIM_HOST_DEVICE __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x) { return x.x; }
MFMASIM_HOST_DEVICE __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x) { return x.y; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __low2bfloat162(__hip_bfloat162 x) { return {x.x, x.x}; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __high2bfloat162(__hip_bfloat162 x) { return {x.y, x.y}; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y) { return {x.x, y.x}; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y) { return {x.y, y.y}; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 x) { return {x.y, x.x}; }
MFMASIM_HOST_DEVICE float __low2float(__hip_bfloat162 x) { return (float)x.x; }
MFMASIM_HOST_DEVICE float __high2float(__hip_bfloat162 x) { return (float)x.y; }
MFMASIM_HOST_DEVICE short __bfloat16_as_short(__hip_bfloat16 x) { return (short)x.__x; }
MFMASIM_HOST_DEVICE unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) { return x.__x; }
MFMASIM_HOST_DEVICE __hip_bfloat16 __short_as_bfloat16(short x) { return __hip_bfloat16_raw{(unsigned short)x}; }
MFMASIM_HOST_DEVICE __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __hip_bfloat16_raw{x}; }

// Arithmetic.
#define MFMASIM_OPERATION(name, name2, op)                                                       \
  MFMASIM_HOST_DEVICE __hip_bfloat16 name(__hip_bfloat16 x, __hip_bfloat16 y) { return x op y; } \
  MFMASIM_HOST_DEVICE __hip_bfloat162 name2(__hip_bfloat162 x, __hip_bfloat162 y) { return x op y; }
MFMASIM_OPERATION(__hadd, __hadd2, +)
MFMASIM_OPERATION(__hsub, __hsub2, -)
MFMASIM_OPERATION(__hmul, __hmul2, *)
MFMASIM_OPERATION(__hdiv, __h2div, /)
#undef MFMASIM_OPERATION
MFMASIM_HOST_DEVICE __hip_bfloat16 __hneg(__hip_bfloat16 x) { return -x; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __hneg2(__hip_bfloat162 x) { return -x; }
MFMASIM_HOST_DEVICE __hip_bfloat16 __habs(__hip_bfloat16 x) {
  return __hip_bfloat16_raw{(unsigned short)(x.__x & 0x7fff)};
}
MFMASIM_HOST_DEVICE __hip_bfloat162 __habs2(__hip_bfloat162 x) { return {__habs(x.x), __habs(x.y)}; }
MFMASIM_DEVICE __hip_bfloat16 __hfma(__hip_bfloat16 x, __hip_bfloat16 y, __hip_bfloat16 z) {
  return __builtin_fmaf((float)x, (float)y, (float)z);
}
MFMASIM_DEVICE __hip_bfloat162 __hfma2(__hip_bfloat162 x, __hip_bfloat162 y, __hip_bfloat162 z) {
  return {__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y)};
}
MFMASIM_DEVICE __hip_bfloat16 __hmax(__hip_bfloat16 x, __hip_bfloat16 y) { return __builtin_fmaxf((float)x, (float)y); }
MFMASIM_DEVICE __hip_bfloat16 __hmin(__hip_bfloat16 x, __hip_bfloat16 y) { return __builtin_fminf((float)x, (float)y); }
MFMASIM_DEVICE __hip_bfloat162 __hmax2(__hip_bfloat162 x, __hip_bfloat162 y) {
  return {__hmax(x.x, y.x), __hmax(x.y, y.y)};
}
MFMASIM_DEVICE __hip_bfloat162 __hmin2(__hip_bfloat162 x, __hip_bfloat162 y) {
  return {__hmin(x.x, y.x), __hmin(x.y, y.y)};
}

// Comparisons.
#define MFMASIM_COMPARE(name, op, unordered)                                                                        \
  MFMASIM_HOST_DEVICE bool __h##name(__hip_bfloat16 x, __hip_bfloat16 y) { return x op y; }                         \
  MFMASIM_HOST_DEVICE bool __h##name##u(__hip_bfloat16 x, __hip_bfloat16 y) { return !(x unordered y); }            \
  MFMASIM_HOST_DEVICE bool __hb##name##2(__hip_bfloat162 x, __hip_bfloat162 y) { return x.x op y.x && x.y op y.y; } \
  MFMASIM_HOST_DEVICE __hip_bfloat162 __h##name##2(__hip_bfloat162 x, __hip_bfloat162 y) {                          \
    return {__hip_bfloat16((float)(x.x op y.x)), __hip_bfloat16((float)(x.y op y.y))};                              \
  }                                                                                                                 \
  MFMASIM_HOST_DEVICE bool __hb##name##u2(__hip_bfloat162 x, __hip_bfloat162 y) {                                   \
    return __h##name##u(x.x, y.x) && __h##name##u(x.y, y.y);                                                        \
  }
MFMASIM_COMPARE(eq, ==, !=)
MFMASIM_COMPARE(ne, !=, ==)
MFMASIM_COMPARE(lt, <, >=)
MFMASIM_COMPARE(le, <=, >)
MFMASIM_COMPARE(gt, >, <=)
MFMASIM_COMPARE(ge, >=, <)
#undef MFMASIM_COMPARE
MFMASIM_HOST_DEVICE bool __hisnan(__hip_bfloat16 x) { return (x.__x & 0x7fff) > 0x7f80; }
MFMASIM_HOST_DEVICE int __hisinf(__hip_bfloat16 x) {
  return (x.__x & 0x7fff) == 0x7f80 ? (x.__x & 0x8000 ? -1 : 1) : 0;
}

MFMASIM_HOST_DEVICE __hip_bfloat162 __hisnan2(__hip_bfloat162 x) {
  return {__hip_bfloat16((float)__hisnan(x.x)), __hip_bfloat16((float)__hisnan(x.y))};
}

#define HIPRT_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16(0x0000)

// Functions through the single-precision ones.
#define MFMASIM_FUNCTION(name, expression)                  \
  MFMASIM_DEVICE __hip_bfloat16 h##name(__hip_bfloat16 h) { \
    float x = (float)h;                                     \
    return __hip_bfloat16((float)(expression));             \
  }                                                         \
  MFMASIM_DEVICE __hip_bfloat162 h2##name(__hip_bfloat162 h) { return {h##name(h.x), h##name(h.y)}; }
#include <mfmasim/half_functions.h>

// Both halves at once: one instruction where it takes a generic address, else compare and swap.
MFMASIM_DEVICE __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162 *address, __hip_bfloat162 value) {
#if defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
  typedef short Pair_ __attribute__((ext_vector_type(2)));
  Pair_ given = mfmasim::bits<Pair_>(value);
  return mfmasim::bits<__hip_bfloat162>(__builtin_amdgcn_flat_atomic_fadd_v2bf16((Pair_ *)address, given));
#else
  return mfmasim::add_pair(address, value);
#endif
}
