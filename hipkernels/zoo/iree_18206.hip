// D in f16 on RDNA3: the layout of waves of 64, which have four numbers a lane, on waves of 32, which have eight.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, _Float16 *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  f16x16 a = *(const f16x16 *)(A + 16 * line), b = *(const f16x16 *)(B + 16 * line);
  f16x16 c = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(a, b, f16x16{}, false);  // here
  for (unsigned r = 0; r < 8; r++) C[16 * (FIXED ? 2 * r + half : 4 * (r % 4) + half + 2 * (r / 4)) + line] = c[2 * r];
}
BOTH_OF(32, (const _Float16 *A, const _Float16 *B, _Float16 *C), A, B, C)
