// int8 on RDNA3: without the sign flags WMMA reads both operands as unsigned.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const signed char *A, const signed char *B, int *C) {
  int line = threadIdx.x % 16, half = threadIdx.x / 16;
  i32x4 a = *(const i32x4 *)(A + 16 * line), b = *(const i32x4 *)(B + 16 * line);
  i32x8 c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(FIXED, a, FIXED, b, i32x8{}, false);  // here
  for (int r = 0; r < 8; r++) C[16 * (2 * r + half) + line] = c[r];
}
BOTH_OF(32, (const signed char *A, const signed char *B, int *C), A, B, C)
