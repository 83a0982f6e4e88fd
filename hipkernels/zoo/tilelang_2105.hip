// D of a 32x32 instruction is stored as if it lay like D of 16x16: four rows, and no groups eight rows apart.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;
  f16x8 a = *(const f16x8 *)(A + 16 * line + 8 * half), b = *(const f16x8 *)(B + 16 * line + 8 * half);
  f32x16 c = __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, f32x16{}, 0, 0, 0);  // here
  for (unsigned r = 0; r < 16; r++) {
    unsigned row = FIXED ? 8 * (r / 4) + 4 * half + r % 4 : 16 * half + r;
    C[32 * row + line] = c[r];
  }
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
