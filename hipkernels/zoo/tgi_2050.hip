// A skinny product rounds its threads up to whole waves, and those behind the end of a row load, too.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *a, const _Float16 *b, float *y, int K) {
  __shared__ float sums[2];
  int t = threadIdx.x;
  float sum = 0;
  if (!FIXED || 8 * t < K) {
    f16x8 left = *(const f16x8 *)(a + 8 * t), right = *(const f16x8 *)(b + 8 * t);  // here
    for (int i = 0; i < 8; i++) sum += 8 * t < K ? (float)left[i] * (float)right[i] : 0;
  }
  for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (t % 64 == 0) sums[t / 64] = sum;
  __syncthreads();
  if (t == 0) y[0] = sums[0] + sums[1];
}
BOTH_OF(128, (const _Float16 *a, const _Float16 *b, float *y, int K), a, b, y, K)
