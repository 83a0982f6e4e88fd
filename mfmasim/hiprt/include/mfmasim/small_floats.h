// The 6 and 4-bit formats of OCP bit by bit, and what their HIP headers have in common. No infinity, no NaN: a value
// beyond the range becomes the largest one, a NaN as well. Source: OCP Microscaling Formats specification 1.0, 5.3.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

enum hipRoundMode { hipRoundNearest = 0, hipRoundZero = 1, hipRoundPosInf = 2, hipRoundMinInf = 3 };

namespace mfmasim {

struct small_format {
  int mantissa, bias;
  uint32_t largest, sign;  // code of the largest value; the sign's bit
};
constexpr small_format e2m3 = {3, 1, 0x1f, 0x20}, e3m2 = {2, 3, 0x1f, 0x20}, e2m1 = {1, 1, 0x7, 0x8};

// From double, so that every source is rounded once.
MFMASIM_HOST_DEVICE uint8_t encode_small(double value, small_format f, hipRoundMode rounding) {
  uint64_t word = bits<uint64_t>(value), magnitude = word & ~0ull >> 1;
  uint32_t sign = word >> 63 ? f.sign : 0, code = f.largest;
  constexpr uint64_t one = 1ull << 52;
  int exponent = (int)(magnitude >> 52) - 1023 + f.bias;
  if (exponent < 8) {
    uint64_t significand = (magnitude & (one - 1)) | (magnitude >> 52 ? one : 0);
    int drop = 52 - f.mantissa + (exponent < 1 ? 1 - exponent : 0);
    // Below half of the smallest number everything is alike.
    if (drop > 60) drop = 60, significand = significand != 0;
    uint64_t kept = significand >> drop, rest = significand & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    bool up = rounding == hipRoundNearest ? rest > half || (rest == half && (kept & 1))
                                          : rest != 0 && rounding == (sign ? hipRoundMinInf : hipRoundPosInf);
    kept += up;
    // A normal significand carries its leading one into the exponent field.
    if (exponent >= 1) kept += (uint64_t)(exponent - 1) << f.mantissa;
    if (kept < f.largest) code = (uint32_t)kept;
  }
  return (uint8_t)(sign | code);
}
MFMASIM_HOST_DEVICE float decode_small(uint8_t code, small_format f) {
  uint32_t magnitude = code & f.largest, exponent = magnitude >> f.mantissa;
  uint32_t fraction = magnitude & ((1u << f.mantissa) - 1);
  if (exponent) fraction |= 1u << f.mantissa, --exponent;
  // An integer of at most four bits times a power of two.
  float value = (float)fraction * bits<float>((127u + 1 + exponent - f.bias - f.mantissa) << 23);
  return code & f.sign ? -value : value;
}

}  // namespace mfmasim

// The conversions of one width: `kind` is fp6 or fp4, `format` turns the interpretation into a format, `width` is an
// element's share of the packed storage in bits.
#define MFMASIM_SMALL_CONVERSIONS(kind, format, width, pair_t)                                                        \
  typedef uint8_t __hip_##kind##_storage_t;                                                                           \
  MFMASIM_HOST_DEVICE __hip_##kind##_storage_t __hip_cvt_double_to_##kind(                                            \
      double x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                              \
    return mfmasim::encode_small(x, format(interpretation), rounding);                                                \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE __hip_##kind##_storage_t __hip_cvt_float_to_##kind(                                             \
      float x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                               \
    return __hip_cvt_double_to_##kind(x, interpretation, rounding);                                                   \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE __hip_##kind##_storage_t __hip_cvt_halfraw_to_##kind(                                           \
      __half_raw x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                          \
    return __hip_cvt_double_to_##kind((float)__half(x), interpretation, rounding);                                    \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE __hip_##kind##_storage_t __hip_cvt_bfloat16raw_to_##kind(                                       \
      __hip_bfloat16_raw x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                  \
    return __hip_cvt_double_to_##kind((float)__hip_bfloat16(x), interpretation, rounding);                            \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE pair_t __hip_cvt_double2_to_##kind##x2(                                                         \
      double2 x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                             \
    return (pair_t)(__hip_cvt_double_to_##kind(x.x, interpretation, rounding) |                                       \
                    __hip_cvt_double_to_##kind(x.y, interpretation, rounding) << width);                              \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE pair_t __hip_cvt_float2_to_##kind##x2(                                                          \
      float2 x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                              \
    return __hip_cvt_double2_to_##kind##x2(make_double2(x.x, x.y), interpretation, rounding);                         \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE pair_t __hip_cvt_halfraw2_to_##kind##x2(                                                        \
      __half2_raw x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                         \
    return __hip_cvt_float2_to_##kind##x2(__half22float2(__half2(x)), interpretation, rounding);                      \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE pair_t __hip_cvt_bfloat16raw2_to_##kind##x2(                                                    \
      __hip_bfloat162_raw x, __hip_##kind##_interpretation_t interpretation, hipRoundMode rounding) {                 \
    return __hip_cvt_float2_to_##kind##x2(__bfloat1622float2(__hip_bfloat162(x)), interpretation, rounding);          \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE __half_raw __hip_cvt_##kind##_to_halfraw(__hip_##kind##_storage_t x,                            \
                                                               __hip_##kind##_interpretation_t interpretation) {      \
    return __half(mfmasim::decode_small(x, format(interpretation)));                                                  \
  }                                                                                                                   \
  MFMASIM_HOST_DEVICE __half2_raw __hip_cvt_##kind##x2_to_halfraw2(pair_t x,                                          \
                                                                   __hip_##kind##_interpretation_t interpretation) {  \
    return __floats2half2_rn(mfmasim::decode_small((uint8_t)x, format(interpretation)),                               \
                             mfmasim::decode_small((uint8_t)(x >> width), format(interpretation)));                   \
  }

// The classes of one format: alone, by 2 and by 4. Arithmetic goes through float, which holds every value.
#define MFMASIM_SMALL_FROM(name, T) \
  MFMASIM_MEMBER explicit name(T x) : name((double)x) {}
#define MFMASIM_SMALL_CLASSES(kind, suffix, format, width, pair_t, quad_t)                                            \
  struct __hip_##kind##_##suffix {                                                                                    \
    uint8_t __x;                                                                                                      \
    __hip_##kind##_##suffix() = default;                                                                              \
    MFMASIM_MEMBER explicit __hip_##kind##_##suffix(double x)                                                         \
        : __x(mfmasim::encode_small(x, mfmasim::format, hipRoundNearest)) {}                                          \
    MFMASIM_MEMBER explicit __hip_##kind##_##suffix(__half x) : __hip_##kind##_##suffix((double)(float)x) {}          \
    MFMASIM_MEMBER explicit __hip_##kind##_##suffix(__hip_bfloat16 x) : __hip_##kind##_##suffix((double)(float)x) {}  \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, float)                                                                \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, short)                                                                \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, unsigned short)                                                       \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, int)                                                                  \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, unsigned int)                                                         \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, long)                                                                 \
    MFMASIM_SMALL_FROM(__hip_##kind##_##suffix, unsigned long)                                                        \
    MFMASIM_MEMBER operator float() const { return mfmasim::decode_small(__x, mfmasim::format); }                     \
    MFMASIM_MEMBER explicit operator double() const { return (float)*this; }                                          \
    MFMASIM_MEMBER explicit operator __half() const { return __half((float)*this); }                                  \
    MFMASIM_MEMBER explicit operator __hip_bfloat16() const { return __hip_bfloat16((float)*this); }                  \
    MFMASIM_MEMBER explicit operator int() const { return (int)(float)*this; }                                        \
    MFMASIM_MEMBER explicit operator bool() const { return (float)*this != 0.0f; }                                    \
  };                                                                                                                  \
  struct __attribute__((aligned(sizeof(pair_t)))) __hip_##kind##x2_##suffix {                                         \
    pair_t __x;                                                                                                       \
    __hip_##kind##x2_##suffix() = default;                                                                            \
    MFMASIM_MEMBER explicit __hip_##kind##x2_##suffix(double2 x)                                                      \
        : __x((pair_t)(mfmasim::encode_small(x.x, mfmasim::format, hipRoundNearest) |                                 \
                       mfmasim::encode_small(x.y, mfmasim::format, hipRoundNearest) << width)) {}                     \
    MFMASIM_MEMBER explicit __hip_##kind##x2_##suffix(float2 x)                                                       \
        : __hip_##kind##x2_##suffix(make_double2(x.x, x.y)) {}                                                        \
    MFMASIM_MEMBER explicit __hip_##kind##x2_##suffix(__half2 x) : __hip_##kind##x2_##suffix(__half22float2(x)) {}    \
    MFMASIM_MEMBER explicit __hip_##kind##x2_##suffix(__hip_bfloat162 x)                                              \
        : __hip_##kind##x2_##suffix(__bfloat1622float2(x)) {}                                                         \
    MFMASIM_MEMBER operator float2() const {                                                                          \
      return make_float2(mfmasim::decode_small((uint8_t)__x, mfmasim::format),                                        \
                         mfmasim::decode_small((uint8_t)(__x >> width), mfmasim::format));                            \
    }                                                                                                                 \
    MFMASIM_MEMBER explicit operator __half2() const { return __float22half2_rn(*this); }                             \
  };                                                                                                                  \
  struct __attribute__((aligned(sizeof(quad_t)))) __hip_##kind##x4_##suffix {                                         \
    quad_t __x;                                                                                                       \
    __hip_##kind##x4_##suffix() = default;                                                                            \
    MFMASIM_MEMBER explicit __hip_##kind##x4_##suffix(double4 x)                                                      \
        : __x((quad_t)(__hip_##kind##x2_##suffix(make_double2(x.x, x.y)).__x |                                        \
                       (uint32_t)__hip_##kind##x2_##suffix(make_double2(x.z, x.w)).__x << 2 * width)) {}              \
    MFMASIM_MEMBER explicit __hip_##kind##x4_##suffix(float4 x)                                                       \
        : __hip_##kind##x4_##suffix(make_double4(x.x, x.y, x.z, x.w)) {}                                              \
    MFMASIM_MEMBER operator float4() const {                                                                          \
      __hip_##kind##x2_##suffix low, high;                                                                            \
      low.__x = (pair_t)__x, high.__x = (pair_t)(__x >> 2 * width);                                                   \
      float2 x = low, y = high;                                                                                       \
      return make_float4(x.x, x.y, y.x, y.y);                                                                         \
    }                                                                                                                 \
  };
