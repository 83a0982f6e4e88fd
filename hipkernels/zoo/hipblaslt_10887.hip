// int8 weights in tiles: the run of a lane is counted as on waves of 64 with MFMA, a quarter of K instead of all of it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const signed char *A, const signed char *B, int *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  i32x4 a = *(const i32x4 *)(A + 16 * line), b;
  for (unsigned part = 0; part < 4; part++)
    b[part] = *(const int *)(B + (FIXED ? 16 * line + 4 * part : 64 * part + 4 * line));
  i32x8 c = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, i32x8{}, false);  // here
  for (unsigned r = 0; r < 8; r++) C[16 * (2 * r + half) + line] = c[r];
}
BOTH_OF(32, (const signed char *A, const signed char *B, int *C), A, B, C)
