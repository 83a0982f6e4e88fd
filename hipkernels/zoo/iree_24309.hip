// One result of 64 work-items, reduced within subgroups: on wave32 two waves each write their own.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  __shared__ int other[2];
  int best = x[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) best = max(best, __shfl_xor(best, step, 32));
  if (FIXED) {
    if (threadIdx.x % 32 == 0) other[threadIdx.x / 32] = best;
    __syncthreads();
    best = max(other[0], other[1]);
    if (threadIdx.x == 0) *y = best;
  } else {
    *y = best;  // here
  }
}
BOTH_OF(64, (const int *x, int *y), x, y)
