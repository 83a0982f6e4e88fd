// A is packed for two matrix instructions (eight of K in a lane), B for one: their K do not meet.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  f32x4 c = {};
  for (unsigned step = 0; step < 2; step++) {
    f16x4 a = *(const f16x4 *)(A + 32 * line + 8 * group + 4 * step);
    f16x4 b = *(const f16x4 *)(B + 32 * line + (FIXED ? 8 * group + 4 * step : 16 * step + 4 * group));
    c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);  // here
  }
  for (unsigned r = 0; r < 4; r++) C[16 * (4 * group + r) + line] = c[r];
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
