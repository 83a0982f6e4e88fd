// A dot product over K: the last stage adds up the sums of at most 16 waves, which cover K = 4096 on wave32.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *a, const _Float16 *b, float *y, int K) {
  __shared__ float sums[32];
  int t = threadIdx.x, waves = blockDim.x / warpSize;
  f16x8 left = *(const f16x8 *)(a + 8 * t), right = *(const f16x8 *)(b + blockIdx.x * K + 8 * t);
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += (float)left[i] * (float)right[i];
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (t % warpSize == 0) sums[t / warpSize] = sum;
  __syncthreads();
  sum = t < waves && (FIXED || t < 16) ? sums[t] : 0;
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (t == 0) y[blockIdx.x] = sum;  // here
}
BOTH_OF(1024, (const _Float16 *a, const _Float16 *b, float *y, int K), a, b, y, K)
