// Two panels share a part of the LDS; the second is written while slow waves still read the first.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ __attribute__((aligned(16))) _Float16 panel[512];
  unsigned t = threadIdx.x, line = t % 16, half = t / 16 % 2, wave = t / 32;
  f32x8 c = {};
  for (unsigned k = 0; k < 2; k++) {
    if (FIXED && k) __syncthreads();
    *(f16x8 *)(panel + 8 * t) = *(const f16x8 *)(B + 32 * (t / 2) + 16 * k + 8 * (t % 2));  // here
    __syncthreads();
    f16x8 a = *(const f16x8 *)(A + 32 * line + 16 * k + 8 * half);
    f16x8 b = *(f16x8 *)(panel + 16 * (16 * (wave ^ 1) + line) + 8 * half);
    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
  }
  for (unsigned r = 0; r < 8; r++) C[32 * (8 * half + r) + 16 * (wave ^ 1) + line] = c[r];
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
