// D of a WMMA on RDNA4: the lane's number is the column; taken for the row, every tile comes out transposed.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  f16x8 a = *(const f16x8 *)(A + 16 * line + 8 * half), b = *(const f16x8 *)(B + 16 * line + 8 * half);
  f32x8 c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, f32x8{});  // here
  for (unsigned r = 0; r < 8; r++) {
    unsigned row = FIXED ? 8 * half + r : line, column = FIXED ? line : 8 * half + r;
    C[16 * row + column] = c[r];
  }
}
BOTH_OF(32, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
