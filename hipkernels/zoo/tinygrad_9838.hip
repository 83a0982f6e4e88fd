// RDNA3's layout of D and K on RDNA4: lanes of both halves hold the same K, as gfx11 wants it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16, from = FIXED ? 8 * half : 0;
  f16x8 a = *(const f16x8 *)(A + 16 * line + from), b = *(const f16x8 *)(B + 16 * line + from);
  f32x8 c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, f32x8{});  // here
  for (unsigned r = 0; r < 8; r++) C[16 * (8 * half + r) + line] = c[r];
}
BOTH_OF(32, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
