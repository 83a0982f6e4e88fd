// C = A B for one 32 x 32 tile of f16: A and B^T pass through the LDS, whose columns are swizzled by the row.
#include <hip/hip_runtime.h>

using half4 = _Float16 __attribute__((ext_vector_type(4)));
using float16 = float __attribute__((ext_vector_type(16)));

constexpr int N = 32, K = 32;

__device__ int swizzle(int row, int column) { return column ^ ((row & 7) << 2); }

__device__ half4 fragment(const _Float16* tile, int row, int column) {
  half4 out;
  for (int i = 0; i < 4; ++i) out[i] = tile[row * K + column + i];  // the swizzle is missing here
  return out;
}

extern "C" __global__ void gemm(const _Float16* a, const _Float16* b, float* c) {
  __shared__ _Float16 As[N * K], Bs[N * K];
  int lane = threadIdx.x;
  for (int i = lane; i < N * K / 4; i += 64) {
    int row = i / (K / 4), column = i % (K / 4) * 4;
    half4 x = *(const half4*)(a + row * K + column), y = *(const half4*)(b + row * K + column);
    *(half4*)(As + row * K + column) = x;
    *(half4*)(Bs + row * K + swizzle(row, column)) = y;
  }
  __syncthreads();
  float16 acc = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
    half4 fa = fragment(As, lane % 32, k0 + lane / 32 * 4);
    half4 fb = fragment(Bs, lane % 32, k0 + lane / 32 * 4);
    acc = __builtin_amdgcn_mfma_f32_32x32x8f16(fa, fb, acc, 0, 0, 0);
  }
  for (int i = 0; i < 16; ++i) c[(i / 4 * 8 + lane / 32 * 4 + i % 4) * N + lane % 32] = acc[i];
}
