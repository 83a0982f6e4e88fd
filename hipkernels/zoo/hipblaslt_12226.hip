// alpha A B + beta C in tiles: with beta, alpha is applied in the first tile of columns alone.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C, float alpha, float beta) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  f16x4 a = *(const f16x4 *)(A + 16 * line + 4 * group);
  for (unsigned tile = 0; tile < 2; tile++) {
    f16x4 b = *(const f16x4 *)(B + 16 * (16 * tile + line) + 4 * group);
    f32x4 c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, f32x4{}, 0, 0, 0);
    for (unsigned r = 0; r < 4; r++) {
      float *place = C + 32 * (4 * group + r) + 16 * tile + line;
      *place = (FIXED || tile == 0 ? alpha : 1.0f) * c[r] + beta * *place;  // here
    }
  }
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C, float alpha, float beta), A, B, C, alpha, beta)
