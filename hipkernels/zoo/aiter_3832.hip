// An epilogue puts the accumulators into the LDS where other waves still read their tiles of the last step.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ __attribute__((aligned(16))) float room[512];
  _Float16 *tile = (_Float16 *)room;  // A: 16x16, B: 32 columns of 16
  unsigned t = threadIdx.x, lane = t % 64, wave = t / 64, line = lane % 16, group = lane / 16;
  for (unsigned i = t; i < 256; i += 128) tile[i] = A[i];
  for (unsigned i = t; i < 512; i += 128) tile[256 + i] = B[i];
  __syncthreads();
  f16x4 a = *(f16x4 *)&tile[16 * line + 4 * group], b = *(f16x4 *)&tile[256 + 16 * (16 * wave + line) + 4 * group];
  f32x4 c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, f32x4{}, 0, 0, 0);
  if (FIXED) __syncthreads();
  for (unsigned r = 0; r < 4; r++) room[32 * (4 * group + r) + 16 * wave + line] = c[r];  // here
  __syncthreads();
  for (unsigned i = t; i < 512; i += 128) C[i] = room[i];
}
BOTH_OF(128, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
