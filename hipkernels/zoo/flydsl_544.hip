// D of a WMMA on RDNA3 has the rows of the two halves of a wave in turn; gfx12 has them one behind the other.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  f16x16 a = *(const f16x16 *)(A + 16 * line), b = *(const f16x16 *)(B + 16 * line);
  f32x8 c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, f32x8{});  // here
  for (unsigned r = 0; r < 8; r++) C[16 * (FIXED ? 2 * r + half : 8 * half + r) + line] = c[r];
}
BOTH_OF(32, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
