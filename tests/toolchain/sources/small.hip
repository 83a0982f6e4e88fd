// <hip/hip_fp6.h> and <hip/hip_fp4.h>: classes, packed forms, arithmetic through float.
#include <hip/hip_fp4.h>
#include <hip/hip_fp6.h>

extern "C" __global__ void singles(const float* in, __hip_fp6_e2m3* a, __hip_fp6_e3m2* b, __hip_fp4_e2m1* c, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = __hip_fp6_e2m3(in[i]);
  b[i] = static_cast<__hip_fp6_e3m2>(__float2half(in[i]));
  c[i] = __hip_fp4_e2m1(__hip_bfloat16(in[i]));
  out[i] = a[i] * b[i] + c[i];
}
extern "C" __global__ void packed(const float4* in, __hip_fp6x4_e3m2* a, __hip_fp4x4_e2m1* b, __hip_fp4x2_e2m1* c, float4* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = __hip_fp6x4_e3m2(in[i]);
  b[i] = __hip_fp4x4_e2m1(in[i]);
  c[i] = __hip_fp4x2_e2m1(make_float2(in[i].x, in[i].y));
  out[i] = float4(a[i]) + float4(b[i]);
}
