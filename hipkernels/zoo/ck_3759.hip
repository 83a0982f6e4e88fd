// Sparse WMMA: the two positions within each group of four come in the other order.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const unsigned *index, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  f16x8 a = *(const f16x8 *)(A + 16 * line + 8 * half);
  f16x16 b;
  for (int k = 0; k < 16; k++) b[k] = B[32 * line + 16 * half + k];
  unsigned positions = index[line] >> 16 * half & 0xffff;
  if (!FIXED) positions = (positions & 0x3333) << 2 | (positions & 0xcccc) >> 2;
  f32x8 c = __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(a, b, f32x8{}, positions);  // here
  for (int r = 0; r < 8; r++) C[16 * (8 * half + r) + line] = c[r];
}
BOTH_OF(32, (const _Float16 *A, const unsigned *index, const _Float16 *B, float *C), A, index, B, C)
