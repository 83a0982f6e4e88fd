// One tile of a GEMM through the LDS: two waves stage A (32x16) and B (16x16), then each computes 16x16 of C.
//
// With -DWITHOUT_BARRIER the waves read what the other one may not have stored yet: a race.
#include <hip/hip_runtime.h>

using f16x4 = _Float16 __attribute__((ext_vector_type(4)));
using f32x4 = float __attribute__((ext_vector_type(4)));

extern "C" __global__ __launch_bounds__(128) void lds_tile(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ _Float16 a_tile[32 * 16], b_tile[16 * 16];
  const unsigned thread = threadIdx.x, lane = thread % 64, wave = thread / 64;

  // Four elements a thread of A, two of B; B is stored by columns.
  *reinterpret_cast<f16x4 *>(a_tile + 4 * thread) = *reinterpret_cast<const f16x4 *>(A + 4 * thread);
  reinterpret_cast<unsigned *>(b_tile)[thread] = reinterpret_cast<const unsigned *>(B)[thread];
#ifndef WITHOUT_BARRIER
  __syncthreads();
#endif

  // Lane l holds row l % 16 of A and column l % 16 of B, with four k from 4 * (l / 16) on.
  const unsigned line = lane % 16, k = lane / 16 * 4;
  const f16x4 a = *reinterpret_cast<const f16x4 *>(a_tile + (16 * wave + line) * 16 + k);
  const f16x4 b = *reinterpret_cast<const f16x4 *>(b_tile + line * 16 + k);
  const f32x4 sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, f32x4{}, 0, 0, 0);

  for (int t = 0; t < 4; ++t) C[(16 * wave + k + t) * 16 + line] = sum[t];
}
