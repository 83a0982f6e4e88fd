// Rows of D of a 16x16 matrix instruction: a lane's group has four rows, which start at 4 times its number.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  f16x4 a = *(const f16x4 *)(A + 16 * line + 4 * group), b = *(const f16x4 *)(B + 16 * line + 4 * group);
  f32x4 c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, f32x4{}, 0, 0, 0);  // here
  for (unsigned r = 0; r < 4; r++) C[16 * ((FIXED ? 4 * group : group % 4) + r) + line] = c[r];
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
