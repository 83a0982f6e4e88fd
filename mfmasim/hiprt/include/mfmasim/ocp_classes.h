// The classes of hip_ext_ocp.h over its conversion functions.
#pragma once

#define MFMASIM_FP8(name, format)                                                                               \
  struct name {                                                                                                 \
    __amd_fp8_storage_t __x;                                                                                    \
    static constexpr __amd_fp8_interpretation_t __default_interpret = format;                                   \
    name() = default;                                                                                           \
    MFMASIM_MEMBER explicit name(float x)                                                                       \
        : __x(__amd_extract_fp8(__amd_cvt_floatx2_to_fp8x2(__amd_floatx2_storage_t{x, x}, format), 0)) {}       \
    MFMASIM_MEMBER_DEVICE name(float x, unsigned int seed) : __x(__amd_cvt_float_to_fp8_sr(x, format, seed)) {} \
    MFMASIM_MEMBER_DEVICE name(float x, unsigned int seed, __amd_scale_t scale)                                 \
        : __x(__amd_cvt_float_to_fp8_sr_scale(x, format, seed, scale)) {}                                       \
    MFMASIM_MEMBER_DEVICE name(__amd_fp16_storage_t x, unsigned int seed, __amd_scale_t scale)                  \
        : __x(__amd_cvt_fp16_to_fp8_sr_scale(x, format, seed, scale)) {}                                        \
    MFMASIM_MEMBER_DEVICE name(__amd_bf16_storage_t x, unsigned int seed, __amd_scale_t scale)                  \
        : __x(__amd_cvt_bf16_to_fp8_sr_scale(x, format, seed, scale)) {}                                        \
    MFMASIM_MEMBER_DEVICE __amd_fp16_storage_t get_scaled_fp16(__amd_scale_t scale) const {                     \
      return __amd_cvt_fp8_to_fp16_scale(__x, format, scale);                                                   \
    }                                                                                                           \
    MFMASIM_MEMBER_DEVICE __amd_bf16_storage_t get_scaled_bf16(__amd_scale_t scale) const {                     \
      return __amd_cvt_fp8_to_bf16_scale(__x, format, scale);                                                   \
    }                                                                                                           \
    MFMASIM_MEMBER_DEVICE float get_scaled_float(__amd_scale_t scale) const {                                   \
      return __amd_cvt_fp8_to_float_scale(__x, format, scale);                                                  \
    }                                                                                                           \
    MFMASIM_MEMBER operator float() const { return __amd_cvt_fp8_to_float(__x, format); }                       \
  };
MFMASIM_FP8(__hipext_ocp_fp8_e4m3, __AMD_OCP_E4M3)
MFMASIM_FP8(__hipext_ocp_fp8_e5m2, __AMD_OCP_E5M2)
#undef MFMASIM_FP8

#define MFMASIM_GETTERS(narrow, n, format)                                                          \
  MFMASIM_MEMBER_DEVICE __amd_float##n##_storage_t get_scaled_float##n(__amd_scale_t scale) const { \
    return __amd_cvt_##narrow##_to_float##n##_scale(__x, format, scale);                            \
  }                                                                                                 \
  MFMASIM_MEMBER_DEVICE __amd_fp16##n##_storage_t get_scaled_fp16##n(__amd_scale_t scale) const {   \
    return __amd_cvt_##narrow##_to_fp16##n##_scale(__x, format, scale);                             \
  }                                                                                                 \
  MFMASIM_MEMBER_DEVICE __amd_bf16##n##_storage_t get_scaled_bf16##n(__amd_scale_t scale) const {   \
    return __amd_cvt_##narrow##_to_bf16##n##_scale(__x, format, scale);                             \
  }
#define MFMASIM_FROM(name, narrow, from, n, format)                              \
  MFMASIM_MEMBER_DEVICE name(__amd_##from##n##_storage_t x, __amd_scale_t scale) \
      : __x(__amd_cvt_##from##n##_to_##narrow##_scale(x, format, scale)) {}
#define MFMASIM_FROM_SR(name, narrow, from, n, format)                                              \
  MFMASIM_MEMBER_DEVICE name(__amd_##from##n##_storage_t x, unsigned int seed, __amd_scale_t scale) \
      : __x(__amd_cvt_##from##n##_to_##narrow##_sr_scale(x, format, seed, scale)) {}

#define MFMASIM_FP8X2(name, format)                                                                             \
  struct name {                                                                                                 \
    __amd_fp8x2_storage_t __x;                                                                                  \
    name() = default;                                                                                           \
    MFMASIM_MEMBER explicit name(__amd_floatx2_storage_t x) : __x(__amd_cvt_floatx2_to_fp8x2(x, format)) {}     \
    MFMASIM_MEMBER name(float x, float y) : name(__amd_floatx2_storage_t{x, y}) {}                              \
    MFMASIM_FROM(name, fp8x2, float, x2, format)                                                                \
    MFMASIM_FROM(name, fp8x2, fp16, x2, format)                                                                 \
    MFMASIM_FROM(name, fp8x2, bf16, x2, format)                                                                 \
    MFMASIM_GETTERS(fp8x2, x2, format)                                                                          \
    MFMASIM_MEMBER operator __amd_floatx2_storage_t() const { return __amd_cvt_fp8x2_to_floatx2(__x, format); } \
  };
MFMASIM_FP8X2(__hipext_ocp_fp8x2_e4m3, __AMD_OCP_E4M3)
MFMASIM_FP8X2(__hipext_ocp_fp8x2_e5m2, __AMD_OCP_E5M2)
#undef MFMASIM_FP8X2

#define MFMASIM_FP6(name, format)                                                                           \
  struct name {                                                                                             \
    __amd_fp6x32_storage_t __x;                                                                             \
    name() = default;                                                                                       \
    MFMASIM_MEMBER_DEVICE name(__amd_floatx16_storage_t x, __amd_floatx16_storage_t y, __amd_scale_t scale) \
        : __x(__amd_cvt_floatx16_floatx16_to_fp6x32_scale(x, y, format, scale)) {}                          \
    MFMASIM_FROM_SR(name, fp6x32, float, x32, format)                                                       \
    MFMASIM_FROM_SR(name, fp6x32, fp16, x32, format)                                                        \
    MFMASIM_FROM_SR(name, fp6x32, bf16, x32, format)                                                        \
    MFMASIM_FROM(name, fp6x32, fp16, x32, format)                                                           \
    MFMASIM_FROM(name, fp6x32, bf16, x32, format)                                                           \
    MFMASIM_GETTERS(fp6x32, x32, format)                                                                    \
  };
MFMASIM_FP6(__hipext_ocp_fp6x32_e2m3, __AMD_OCP_E2M3)
MFMASIM_FP6(__hipext_ocp_fp6x32_e3m2, __AMD_OCP_E3M2)
#undef MFMASIM_FP6

struct __hipext_ocp_fp4x2_e2m1 {
  __amd_fp4x2_storage_t __x;
  __hipext_ocp_fp4x2_e2m1() = default;
  MFMASIM_FROM(__hipext_ocp_fp4x2_e2m1, fp4x2, float, x2, __AMD_OCP_E2M1)
  MFMASIM_FROM(__hipext_ocp_fp4x2_e2m1, fp4x2, fp16, x2, __AMD_OCP_E2M1)
  MFMASIM_FROM(__hipext_ocp_fp4x2_e2m1, fp4x2, bf16, x2, __AMD_OCP_E2M1)
  MFMASIM_FROM_SR(__hipext_ocp_fp4x2_e2m1, fp4x2, float, x2, __AMD_OCP_E2M1)
  MFMASIM_FROM_SR(__hipext_ocp_fp4x2_e2m1, fp4x2, fp16, x2, __AMD_OCP_E2M1)
  MFMASIM_FROM_SR(__hipext_ocp_fp4x2_e2m1, fp4x2, bf16, x2, __AMD_OCP_E2M1)
  MFMASIM_MEMBER_DEVICE __hipext_ocp_fp4x2_e2m1(float x, float y, __amd_scale_t scale)
      : __hipext_ocp_fp4x2_e2m1(__amd_floatx2_storage_t{x, y}, scale) {}
  MFMASIM_GETTERS(fp4x2, x2, __AMD_OCP_E2M1)
};
#undef MFMASIM_GETTERS
#undef MFMASIM_FROM
#undef MFMASIM_FROM_SR
