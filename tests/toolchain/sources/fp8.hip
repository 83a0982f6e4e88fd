#include <hip/hip_fp8.h>

#if HIP_FP8_TYPE_FNUZ
constexpr __hip_fp8_interpretation_t own = __HIP_E4M3_FNUZ;
#else
constexpr __hip_fp8_interpretation_t own = __HIP_E4M3;
#endif

// The architecture's own flavour: conversion instructions where there are any.
__global__ void own_flavour(const float* f, __hip_fp8_storage_t* out, __hip_fp8x2_storage_t* out2, float* back) {
  out[0] = __hip_cvt_float_to_fp8(f[0], __HIP_SATFINITE, own);
  out[1] = __hip_cvt_float_to_fp8(f[1], __HIP_NOSAT, own);
  out2[0] = __hip_cvt_float2_to_fp8x2(make_float2(f[2], f[3]), __HIP_SATFINITE, own);
  back[0] = __half2float(__hip_cvt_fp8_to_halfraw(out[2], own));
}

template <typename T, typename T2, typename T4>
__device__ void classes(const float* f, float4* g, T* one, T2* two, T4* four, __half* h, __hip_bfloat16* b) {
  one[0] = T(f[0]);
  one[1] = T(h[0]);
  one[2] = T(b[0]);
  one[3] = T(3);
  one[4] = T(f[5] * 2.0);
  two[0] = T2(make_float2(f[1], f[2]));
  four[0] = T4(g[0]);
  float back = one[5];
  float2 back2 = two[1];
  float4 back4 = four[1];
  h[1] = one[6];
  b[1] = __hip_bfloat16(back + back2.x + back4.w);
  g[1] = four[2];
}
__global__ void ocp(const float* f, float4* g, __hip_fp8_e4m3* a, __hip_fp8x2_e4m3* b, __hip_fp8x4_e4m3* c,
                    __hip_fp8_e5m2* d, __hip_fp8x2_e5m2* e, __hip_fp8x4_e5m2* k, __half* h, __hip_bfloat16* m) {
  classes(f, g, a, b, c, h, m);
  classes(f, g, d, e, k, h, m);
}
__global__ void fnuz(const float* f, float4* g, __hip_fp8_e4m3_fnuz* a, __hip_fp8x2_e4m3_fnuz* b,
                     __hip_fp8x4_e4m3_fnuz* c, __hip_fp8_e5m2_fnuz* d, __hip_fp8x2_e5m2_fnuz* e,
                     __hip_fp8x4_e5m2_fnuz* k, __half* h, __hip_bfloat16* m) {
  classes(f, g, a, b, c, h, m);
  classes(f, g, d, e, k, h, m);
}
