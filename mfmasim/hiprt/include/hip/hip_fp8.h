// 8-bit floating point: storage types, conversions and the classes __hip_fp8_e4m3, __hip_fp8_e5m2 and their FNUZ
// twins, alone and packed by 2 and 4. The instructions convert where the architecture has the flavour, else
// mfmasim/fp8.h does.
// Names: HIP documentation, "Low precision floating point types".
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <mfmasim/fp8.h>

// Both are 1 on the host and on architectures that convert neither flavour, as in ROCm's header (amd_hip_fp8.h).
#if !defined(MFMASIM_HARDWARE_OCP)
#define HIP_FP8_TYPE_FNUZ 1
#else
#define HIP_FP8_TYPE_FNUZ 0
#endif
#if !defined(MFMASIM_HARDWARE_FNUZ)
#define HIP_FP8_TYPE_OCP 1
#else
#define HIP_FP8_TYPE_OCP 0
#endif

typedef uint8_t __hip_fp8_storage_t;
typedef uint16_t __hip_fp8x2_storage_t;
typedef uint32_t __hip_fp8x4_storage_t;

enum __hip_fp8_interpretation_t {
  __HIP_E4M3 = 0,
  __HIP_E5M2 = 1,
  __HIP_E4M3_FNUZ = 2,
  __HIP_E5M2_FNUZ = 3,
};

enum __hip_saturation_t {
  __HIP_NOSAT = 0,
  __HIP_SATFINITE = 1,
};

namespace mfmasim {

MFMASIM_HOST_DEVICE fp8_format format_of(__hip_fp8_interpretation_t interpretation) {
  switch (interpretation) {
    case __HIP_E4M3: return e4m3fn;
    case __HIP_E5M2: return e5m2;
    case __HIP_E4M3_FNUZ: return e4m3fnuz;
    default: return e5m2fnuz;
  }
}

// Two at once: the low byte is x.
MFMASIM_HOST_DEVICE uint16_t encode2(float x, float y, bool saturate, __hip_fp8_interpretation_t interpretation) {
#if defined(MFMASIM_HARDWARE_FNUZ)
  if (interpretation == __HIP_E4M3_FNUZ) {
    if (saturate) x = clip(x, 240.0f), y = clip(y, 240.0f);
    return (uint16_t)__builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false);
  }
  if (interpretation == __HIP_E5M2_FNUZ) {
    if (saturate) x = clip(x, 57344.0f), y = clip(y, 57344.0f);
    return (uint16_t)__builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0, false);
  }
#elif defined(MFMASIM_HARDWARE_OCP)
  if (interpretation == __HIP_E4M3) {
    if (saturate) x = clip(x, 448.0f), y = clip(y, 448.0f);
    return (uint16_t)__builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false);
  }
  if (interpretation == __HIP_E5M2) {
    if (saturate) x = clip(x, 57344.0f), y = clip(y, 57344.0f);
    return (uint16_t)__builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0, false);
  }
#endif
  fp8_format f = format_of(interpretation);
  return (uint16_t)(encode(x, f, saturate) | encode(y, f, saturate) << 8);
}

MFMASIM_HOST_DEVICE float decode1(uint8_t code, __hip_fp8_interpretation_t interpretation) {
#if defined(MFMASIM_HARDWARE_FNUZ)
  if (interpretation == __HIP_E4M3_FNUZ) return __builtin_amdgcn_cvt_f32_fp8(code, 0);
  if (interpretation == __HIP_E5M2_FNUZ) return __builtin_amdgcn_cvt_f32_bf8(code, 0);
#elif defined(MFMASIM_HARDWARE_OCP)
  if (interpretation == __HIP_E4M3) return __builtin_amdgcn_cvt_f32_fp8(code, 0);
  if (interpretation == __HIP_E5M2) return __builtin_amdgcn_cvt_f32_bf8(code, 0);
#endif
  return decode(code, format_of(interpretation));
}

}  // namespace mfmasim

// The narrow source is exact in single precision, except a double, which is rounded twice as in HIP.
MFMASIM_HOST_DEVICE __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t saturation,
                                                               __hip_fp8_interpretation_t interpretation) {
  return (uint8_t)mfmasim::encode2(x, 0.0f, saturation == __HIP_SATFINITE, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 x, __hip_saturation_t saturation,
                                                                    __hip_fp8_interpretation_t interpretation) {
  return mfmasim::encode2(x.x, x.y, saturation == __HIP_SATFINITE, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t saturation,
                                                                __hip_fp8_interpretation_t interpretation) {
  return __hip_cvt_float_to_fp8((float)x, saturation, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 x, __hip_saturation_t saturation,
                                                                     __hip_fp8_interpretation_t interpretation) {
  return __hip_cvt_float2_to_fp8x2(make_float2((float)x.x, (float)x.y), saturation, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x, __hip_saturation_t saturation,
                                                                 __hip_fp8_interpretation_t interpretation) {
  return __hip_cvt_float_to_fp8((float)__half(x), saturation, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw x, __hip_saturation_t saturation,
                                                                      __hip_fp8_interpretation_t interpretation) {
  return __hip_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturation, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x,
                                                                     __hip_saturation_t saturation,
                                                                     __hip_fp8_interpretation_t interpretation) {
  return __hip_cvt_float_to_fp8((float)__hip_bfloat16(x), saturation, interpretation);
}
MFMASIM_HOST_DEVICE __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw x,
                                                                          __hip_saturation_t saturation,
                                                                          __hip_fp8_interpretation_t interpretation) {
  return __hip_cvt_float2_to_fp8x2(__bfloat1622float2(__hip_bfloat162(x)), saturation, interpretation);
}
MFMASIM_HOST_DEVICE __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x,
                                                        __hip_fp8_interpretation_t interpretation) {
  return __half(mfmasim::decode1(x, interpretation));
}
MFMASIM_HOST_DEVICE __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x,
                                                            __hip_fp8_interpretation_t interpretation) {
  return __floats2half2_rn(mfmasim::decode1((uint8_t)x, interpretation),
                           mfmasim::decode1((uint8_t)(x >> 8), interpretation));
}

#define MFMASIM_SINGLE(name, interpretation)                                                                         \
  struct name {                                                                                                      \
    __hip_fp8_storage_t __x;                                                                                         \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                      \
    static constexpr __hip_fp8_interpretation_t __default_interpret = interpretation;                                \
    name() = default;                                                                                                \
    MFMASIM_MEMBER name(float x) : __x(__hip_cvt_float_to_fp8(x, __default_saturation, interpretation)) {}           \
    MFMASIM_FROM_FLOAT(name, double)                                                                                 \
    MFMASIM_FROM_FLOAT(name, __half)                                                                                 \
    MFMASIM_FROM_FLOAT(name, __hip_bfloat16)                                                                         \
    MFMASIM_FROM_FLOAT(name, short)                                                                                  \
    MFMASIM_FROM_FLOAT(name, unsigned short)                                                                         \
    MFMASIM_FROM_FLOAT(name, int)                                                                                    \
    MFMASIM_FROM_FLOAT(name, unsigned int)                                                                           \
    MFMASIM_FROM_FLOAT(name, long)                                                                                   \
    MFMASIM_FROM_FLOAT(name, unsigned long)                                                                          \
    MFMASIM_MEMBER operator float() const { return mfmasim::decode1(__x, interpretation); }                          \
    MFMASIM_MEMBER operator __half() const { return __half(mfmasim::decode1(__x, interpretation)); }                 \
    MFMASIM_MEMBER operator __hip_bfloat16() const { return __hip_bfloat16(mfmasim::decode1(__x, interpretation)); } \
    MFMASIM_MEMBER explicit operator double() const { return mfmasim::decode1(__x, interpretation); }                \
    MFMASIM_MEMBER explicit operator bool() const { return mfmasim::decode1(__x, interpretation) != 0.0f; }          \
    MFMASIM_MEMBER explicit operator int() const { return (int)mfmasim::decode1(__x, interpretation); }              \
    MFMASIM_MEMBER explicit operator unsigned int() const {                                                          \
      return (unsigned int)mfmasim::decode1(__x, interpretation);                                                    \
    }                                                                                                                \
  };                                                                                                                 \
  static_assert(sizeof(name) == 1, "mfmasim: " #name " is one byte");
#define MFMASIM_FROM_FLOAT(name, T) \
  MFMASIM_MEMBER explicit name(T x) : name((float)x) {}

#define MFMASIM_PAIR(name, interpretation)                                                                        \
  struct __attribute__((aligned(2))) name {                                                                       \
    __hip_fp8x2_storage_t __x;                                                                                    \
    static constexpr __hip_fp8_interpretation_t __default_interpret = interpretation;                             \
    name() = default;                                                                                             \
    MFMASIM_MEMBER name(float2 x) : __x(__hip_cvt_float2_to_fp8x2(x, __HIP_SATFINITE, interpretation)) {}         \
    MFMASIM_MEMBER explicit name(double2 x) : name(make_float2((float)x.x, (float)x.y)) {}                        \
    MFMASIM_MEMBER explicit name(__half2 x) : name(__half22float2(x)) {}                                          \
    MFMASIM_MEMBER explicit name(__hip_bfloat162 x) : name(__bfloat1622float2(x)) {}                              \
    MFMASIM_MEMBER operator float2() const {                                                                      \
      return make_float2(mfmasim::decode1((uint8_t)__x, interpretation),                                          \
                         mfmasim::decode1((uint8_t)(__x >> 8), interpretation));                                  \
    }                                                                                                             \
    MFMASIM_MEMBER operator __half2() const { return __half2(__hip_cvt_fp8x2_to_halfraw2(__x, interpretation)); } \
  };                                                                                                              \
  static_assert(sizeof(name) == 2, "mfmasim: " #name " is two bytes");

#define MFMASIM_QUAD(name, interpretation)                                                                         \
  struct __attribute__((aligned(4))) name {                                                                        \
    __hip_fp8x4_storage_t __x;                                                                                     \
    static constexpr __hip_fp8_interpretation_t __default_interpret = interpretation;                              \
    name() = default;                                                                                              \
    MFMASIM_MEMBER name(float4 x)                                                                                  \
        : __x(mfmasim::encode2(x.x, x.y, true, interpretation) |                                                   \
              (uint32_t)mfmasim::encode2(x.z, x.w, true, interpretation) << 16) {}                                 \
    MFMASIM_MEMBER explicit name(double4 x) : name(make_float4((float)x.x, (float)x.y, (float)x.z, (float)x.w)) {} \
    MFMASIM_MEMBER explicit name(__half2 low, __half2 high)                                                        \
        : name(make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y)) {}                           \
    MFMASIM_MEMBER explicit name(__hip_bfloat162 low, __hip_bfloat162 high)                                        \
        : name(make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y)) {}                           \
    MFMASIM_MEMBER operator float4() const {                                                                       \
      return make_float4(mfmasim::decode1((uint8_t)__x, interpretation),                                           \
                         mfmasim::decode1((uint8_t)(__x >> 8), interpretation),                                    \
                         mfmasim::decode1((uint8_t)(__x >> 16), interpretation),                                   \
                         mfmasim::decode1((uint8_t)(__x >> 24), interpretation));                                  \
    }                                                                                                              \
  };                                                                                                               \
  static_assert(sizeof(name) == 4, "mfmasim: " #name " is four bytes");

MFMASIM_SINGLE(__hip_fp8_e4m3, __HIP_E4M3)
MFMASIM_SINGLE(__hip_fp8_e5m2, __HIP_E5M2)
MFMASIM_SINGLE(__hip_fp8_e4m3_fnuz, __HIP_E4M3_FNUZ)
MFMASIM_SINGLE(__hip_fp8_e5m2_fnuz, __HIP_E5M2_FNUZ)
MFMASIM_PAIR(__hip_fp8x2_e4m3, __HIP_E4M3)
MFMASIM_PAIR(__hip_fp8x2_e5m2, __HIP_E5M2)
MFMASIM_PAIR(__hip_fp8x2_e4m3_fnuz, __HIP_E4M3_FNUZ)
MFMASIM_PAIR(__hip_fp8x2_e5m2_fnuz, __HIP_E5M2_FNUZ)
MFMASIM_QUAD(__hip_fp8x4_e4m3, __HIP_E4M3)
MFMASIM_QUAD(__hip_fp8x4_e5m2, __HIP_E5M2)
MFMASIM_QUAD(__hip_fp8x4_e4m3_fnuz, __HIP_E4M3_FNUZ)
MFMASIM_QUAD(__hip_fp8x4_e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef MFMASIM_SINGLE
#undef MFMASIM_PAIR
#undef MFMASIM_QUAD
#undef MFMASIM_FROM_FLOAT
