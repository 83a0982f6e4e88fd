// OCP's 8, 6 and 4-bit formats with block scales: storage types, packing, and gfx950's conversion instructions.
// Names: HIP documentation, "Low precision floating point types", HIP extensions.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <mfmasim/fp8.h>

typedef uint8_t __amd_fp8_storage_t;
typedef uint16_t __amd_fp8x2_storage_t;
typedef uint8_t __amd_fp8x8_storage_t __attribute__((ext_vector_type(8)));
typedef uint8_t __amd_fp4x2_storage_t;
typedef uint32_t __amd_fp4x8_storage_t;
typedef uint32_t __amd_fp6x32_storage_t __attribute__((ext_vector_type(6)));
typedef int8_t __amd_scale_t;  // the exponent of E8M0 without its bias; -128 is NaN
typedef __bf16 __amd_bf16_storage_t;
typedef __bf16 __amd_bf16x2_storage_t __attribute__((ext_vector_type(2)));
typedef __bf16 __amd_bf16x8_storage_t __attribute__((ext_vector_type(8)));
typedef __bf16 __amd_bf16x32_storage_t __attribute__((ext_vector_type(32)));
typedef _Float16 __amd_fp16_storage_t;
typedef _Float16 __amd_fp16x2_storage_t __attribute__((ext_vector_type(2)));
typedef _Float16 __amd_fp16x8_storage_t __attribute__((ext_vector_type(8)));
typedef _Float16 __amd_fp16x32_storage_t __attribute__((ext_vector_type(32)));
typedef float __amd_floatx2_storage_t __attribute__((ext_vector_type(2)));
typedef float __amd_floatx8_storage_t __attribute__((ext_vector_type(8)));
typedef float __amd_floatx16_storage_t __attribute__((ext_vector_type(16)));
typedef float __amd_floatx32_storage_t __attribute__((ext_vector_type(32)));
typedef short __amd_shortx2_storage_t __attribute__((ext_vector_type(2)));
typedef unsigned int __amd_uintx2_storage_t __attribute__((ext_vector_type(2)));

enum __amd_fp8_interpretation_t { __AMD_OCP_E4M3 = 0, __AMD_OCP_E5M2 = 1 };
enum __amd_fp6_interpretation_t { __AMD_OCP_E2M3 = 0, __AMD_OCP_E3M2 = 1 };
enum __amd_fp4_interpretation_t { __AMD_OCP_E2M1 = 0 };

// Packing: element 0 lies in the low bits.
MFMASIM_HOST_DEVICE __amd_fp8x2_storage_t __amd_create_fp8x2(__amd_fp8_storage_t x, __amd_fp8_storage_t y) {
  return (__amd_fp8x2_storage_t)(y << 8 | x);
}
MFMASIM_HOST_DEVICE __amd_fp8x8_storage_t __amd_create_fp8x8(__amd_fp8x2_storage_t x, __amd_fp8x2_storage_t y,
                                                             __amd_fp8x2_storage_t z, __amd_fp8x2_storage_t w) {
  return mfmasim::bits<__amd_fp8x8_storage_t>((uint64_t)w << 48 | (uint64_t)z << 32 | (uint64_t)y << 16 | x);
}
MFMASIM_HOST_DEVICE __amd_fp4x2_storage_t __amd_create_fp4x2(uint8_t x, uint8_t y) {
  return (__amd_fp4x2_storage_t)(y << 4 | x);
}
MFMASIM_HOST_DEVICE __amd_fp4x8_storage_t __amd_create_fp4x8(__amd_fp4x2_storage_t x, __amd_fp4x2_storage_t y,
                                                             __amd_fp4x2_storage_t z, __amd_fp4x2_storage_t w) {
  return (uint32_t)w << 24 | (uint32_t)z << 16 | (uint32_t)y << 8 | x;
}
// An index other than 0 means the upper one, as in HIP.
MFMASIM_HOST_DEVICE __amd_fp8_storage_t __amd_extract_fp8(__amd_fp8x2_storage_t x, size_t index) {
  return (__amd_fp8_storage_t)(index == 0 ? x : x >> 8);
}
MFMASIM_HOST_DEVICE __amd_fp8x2_storage_t __amd_extract_fp8x2(__amd_fp8x8_storage_t x, size_t index) {
  return (__amd_fp8x2_storage_t)(mfmasim::bits<uint64_t>(x) >> 16 * index);
}
MFMASIM_HOST_DEVICE uint8_t __amd_extract_fp4(__amd_fp4x2_storage_t x, size_t index) {
  return (uint8_t)(index == 0 ? x & 0xf : x >> 4);
}
MFMASIM_HOST_DEVICE __amd_fp4x2_storage_t __amd_extract_fp4x2(__amd_fp4x8_storage_t x, size_t index) {
  return (__amd_fp4x2_storage_t)(x >> 8 * index);
}

// The instructions take the scale as a float of which only the exponent counts.
MFMASIM_HOST_DEVICE float __amd_scale_to_float(__amd_scale_t scale) {
  return mfmasim::bits<float>((scale == -128 ? 0xffu : (uint32_t)(scale + 127)) << 23);
}

// To HIP's own types and back.
MFMASIM_HOST_DEVICE float2 __amd_cvt_floatx2_to_float2(__amd_floatx2_storage_t x) { return make_float2(x[0], x[1]); }
MFMASIM_HOST_DEVICE __half __amd_cvt_fp16_to_half(__amd_fp16_storage_t x) { return __half(x); }
MFMASIM_HOST_DEVICE __half2 __amd_cvt_fp16x2_to_half2(__amd_fp16x2_storage_t x) { return __half2(x); }
MFMASIM_HOST_DEVICE __amd_fp16_storage_t __amd_cvt_half_to_fp16(__half x) { return x.data; }
MFMASIM_HOST_DEVICE __amd_fp16x2_storage_t __amd_cvt_half2_to_fp16x2(__half2 x) { return x.data; }
MFMASIM_HOST_DEVICE __hip_bfloat16 __amd_cvt_bf16_to_hipbf16(__amd_bf16_storage_t x) { return __hip_bfloat16(x); }
MFMASIM_HOST_DEVICE __amd_bf16_storage_t __amd_cvt_hipbf16_to_bf16(__hip_bfloat16 x) { return (__bf16)x; }
MFMASIM_HOST_DEVICE __hip_bfloat162 __amd_cvt_bf16x2_to_hipbf162(__amd_bf16x2_storage_t x) {
  return {__hip_bfloat16(x[0]), __hip_bfloat16(x[1])};
}
MFMASIM_HOST_DEVICE __amd_bf16x2_storage_t __amd_cvt_hipbf162_to_bf16x2(__hip_bfloat162 x) {
  return __amd_bf16x2_storage_t{(__bf16)x.x, (__bf16)x.y};
}

// Unscaled 8-bit conversions: the instructions where the architecture speaks OCP, bit by bit elsewhere.
MFMASIM_HOST_DEVICE float __amd_cvt_fp8_to_float(__amd_fp8_storage_t x, __amd_fp8_interpretation_t format) {
#if defined(MFMASIM_HARDWARE_OCP)
  return format == __AMD_OCP_E4M3 ? __builtin_amdgcn_cvt_f32_fp8(x, 0) : __builtin_amdgcn_cvt_f32_bf8(x, 0);
#else
  return mfmasim::decode(x, format == __AMD_OCP_E4M3 ? mfmasim::e4m3fn : mfmasim::e5m2);
#endif
}
MFMASIM_HOST_DEVICE __amd_floatx2_storage_t __amd_cvt_fp8x2_to_floatx2(__amd_fp8x2_storage_t x,
                                                                       __amd_fp8_interpretation_t format) {
  return {__amd_cvt_fp8_to_float(__amd_extract_fp8(x, 0), format),
          __amd_cvt_fp8_to_float(__amd_extract_fp8(x, 1), format)};
}
// A value beyond the range is not clipped: E4M3 gives NaN, E5M2 infinity.
MFMASIM_HOST_DEVICE __amd_fp8x2_storage_t __amd_cvt_floatx2_to_fp8x2(__amd_floatx2_storage_t x,
                                                                     __amd_fp8_interpretation_t format) {
#if defined(MFMASIM_HARDWARE_OCP)
  return (__amd_fp8x2_storage_t)(format == __AMD_OCP_E4M3 ? __builtin_amdgcn_cvt_pk_fp8_f32(x[0], x[1], 0, false)
                                                          : __builtin_amdgcn_cvt_pk_bf8_f32(x[0], x[1], 0, false));
#else
  mfmasim::fp8_format f = format == __AMD_OCP_E4M3 ? mfmasim::e4m3fn : mfmasim::e5m2;
  return __amd_create_fp8x2(mfmasim::encode(x[0], f, false), mfmasim::encode(x[1], f, false));
#endif
}
MFMASIM_HOST_DEVICE __amd_fp16_storage_t __amd_cvt_fp8_to_fp16(__amd_fp8_storage_t x,
                                                               __amd_fp8_interpretation_t format) {
  return (_Float16)__amd_cvt_fp8_to_float(x, format);
}
MFMASIM_HOST_DEVICE __amd_fp16x2_storage_t __amd_cvt_fp8x2_to_fp16x2(__amd_fp8x2_storage_t x,
                                                                     __amd_fp8_interpretation_t format) {
  return __builtin_convertvector(__amd_cvt_fp8x2_to_floatx2(x, format), __amd_fp16x2_storage_t);
}
MFMASIM_HOST_DEVICE __amd_fp8x2_storage_t __amd_cvt_fp16x2_to_fp8x2(__amd_fp16x2_storage_t x,
                                                                    __amd_fp8_interpretation_t format) {
  return __amd_cvt_floatx2_to_fp8x2(__builtin_convertvector(x, __amd_floatx2_storage_t), format);
}

#if defined(__gfx950__)
#include <mfmasim/ocp_gfx950.h>
#else
#include <mfmasim/ocp_missing.h>
#endif
#include <mfmasim/ocp_classes.h>
