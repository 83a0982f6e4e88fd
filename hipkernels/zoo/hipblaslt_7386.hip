// MXFP8: scales of A lie in the LDS by blocks of K, and are read by rows of A.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned char *A, const unsigned char *SA, const unsigned char *B, const unsigned char *SB, float *C) {
  __shared__ unsigned char scales[64];  // 16 rows, 4 blocks
  int t = threadIdx.x, line = t % 16, half = t / 16;
  for (int i = t; i < 64; i += 32) scales[i % 4 * 16 + i / 4] = SA[i];
  __syncthreads();
  i32x16 a, b;
  for (int part = 0; part < 4; part++)
    for (int k = 0; k < 4; k++) {
      a[4 * part + k] = ((const int *)(A + 128 * line + 32 * part + 16 * half))[k];
      b[4 * part + k] = ((const int *)(B + 128 * line + 32 * part + 16 * half))[k];
    }
  int scale_a = 0, scale_b = *(const int *)(SB + 4 * line);
  for (int block = 0; block < 4; block++) scale_a |= scales[FIXED ? 16 * block + line : 4 * line + block] << 8 * block;
  f32x8 c = __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(0, a, 0, b, 0, f32x8{}, 0, 0, scale_a, 0, 0, scale_b, 0, 0);  // here
  for (int r = 0; r < 8; r++) C[16 * (8 * half + r) + line] = c[r];
}
BOTH_OF(32, (const unsigned char *A, const unsigned char *SA, const unsigned char *B, const unsigned char *SB, float *C), A, SA, B, SB, C)
