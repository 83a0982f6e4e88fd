// Number types: half and bfloat16 with their pairs, FP8, complex numbers, vectors with operators, overloads.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_vector_types.h>

__global__ void half2_axpy(int count, __half2 a, const __half2* x, __half2* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = __hfma2(a, x[i], y[i]);
}
__global__ void bf16_dot(const __hip_bfloat16* a, const hip_bfloat16* b, float* out, int count) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += __bfloat162float(a[i]) * static_cast<float>(b[i]);
  for (int offset = warpSize / 2; offset; offset >>= 1) sum += __shfl_xor(sum, offset);
  if (threadIdx.x == 0) out[0] = sum;
}
__global__ void fp8_round_trip(const float* in, __hip_fp8_e4m3* e4m3, __hip_fp8_e5m2_fnuz* e5m2, float* out) {
  int i = threadIdx.x;
  e4m3[i] = __hip_fp8_e4m3(in[i]);
  e5m2[i] = static_cast<__hip_fp8_e5m2_fnuz>(in[i]);
  out[i] = float(e4m3[i]) + float(e5m2[i]);
}

__global__ void mandelbrot(unsigned char* image, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  hipDoubleComplex c = make_hipDoubleComplex(-2.0 + 3.0 * x / width, -1.0 + 2.0 * y / height);
  hipDoubleComplex z = make_hipDoubleComplex(0.0, 0.0);
  int n = 0;
  while (n < limit && hipCreal(z) * hipCreal(z) + hipCimag(z) * hipCimag(z) < 4.0) {
    z = hipCadd(hipCmul(z, z), c);
    ++n;
  }
  image[y * width + x] = (unsigned char)n;
}

__global__ void vectors(const float4* a, float4* out, int3* ints, const uchar4* bytes, double2* d) {
  int i = threadIdx.x;
  float4 v = a[i], w = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  v = v * 2.0f + w;
  v += make_float4(bytes[i].x, bytes[i].y, bytes[i].z, bytes[i].w);
  v.x = fminf(v.x, 100.0f);
  out[i] = -v / w;
  ints[i] = make_int3(i, i * 2, i * 3) + ints[i];
  ints[i].z ^= min(i, 3) + max(i, 2) - abs(i - 8);
  d[i] = make_double2(v.x, max(1.0, 2.0 * v.y)) * d[i] - double2{0.5, 0.25};
  float2 pair = {v.x, v.y};
  pair *= pair;
  d[i].x += pair.x > 1.0f ? 1.0 : 0.0;
  int4 quad = int4{1, 2, 3, 4};
  quad++;
  ints[i].y += (quad == make_int4(2, 3, 4, 5)) ? 1 : 0;
  uint2 u = make_uint2(3u, 5u) << 1u;
  ints[i].x += u.x % 4u + dim3(2, 3).z;
}
