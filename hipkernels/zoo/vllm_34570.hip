// Heads of 32 numbers are less than four waves of 16: the loop over V has no turn, and what is stored was never computed.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *v, float *y, int head) {
  __shared__ float sums[128];
  int t = threadIdx.x, wave = t / 64;
  int loops = FIXED ? 1 : head / 16 / 4;
  for (int i = 0; i < loops; i++)
    if (t < head) sums[t] = 2 * v[t];
  __syncthreads();
  if (t < head) y[t] = sums[t];  // here
}
BOTH_OF(256, (const float *v, float *y, int head), v, y, head)
