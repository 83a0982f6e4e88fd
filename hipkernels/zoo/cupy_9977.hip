// A reduction over a wave that begins at a distance of 16: of 64 lanes it adds up 32.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  int sum = x[blockIdx.x * 64 + threadIdx.x];
  for (int step = FIXED ? 32 : 16; step > 0; step /= 2) sum += __shfl_down(sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;  // here
}
BOTH_OF(64, (const int *x, int *y), x, y)
