// Counters for 32 threads of a wave are cleared, and all 64 lanes count in theirs.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *experts, int *y) {
  __shared__ int counts[64][4];
  unsigned t = threadIdx.x, lanes = FIXED ? 64 : 32;
  if (t < lanes)
    for (int i = 0; i < 4; i++) counts[t][i] = 0;
  __syncthreads();
  counts[t][experts[t] & 3]++;
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += (i + 1) * counts[t][i];
  y[t] = sum;  // here
}
BOTH_OF(64, (const int *experts, int *y), experts, y)
