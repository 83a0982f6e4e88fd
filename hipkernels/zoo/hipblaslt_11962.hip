// Stream K: a tile's partial sums are stored in two batches, and the second stores the accumulators of the first.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  f32x4 c[2];
  f16x4 a = *(const f16x4 *)(A + 16 * line + 4 * group);
  for (unsigned batch = 0; batch < 2; batch++) {
    f16x4 b = *(const f16x4 *)(B + 16 * (16 * batch + line) + 4 * group);
    c[batch] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, f32x4{}, 0, 0, 0);  // here
  }
  asm volatile("" : "+v"(c[1]));
  for (unsigned batch = 0; batch < 2; batch++)
    for (unsigned r = 0; r < 4; r++) C[32 * (4 * group + r) + 16 * batch + line] = c[FIXED ? batch : 0][r];
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
