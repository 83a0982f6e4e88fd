// A scan over states assumes waves of 32: on waves of 64 the numbers of the upper half are added to those of the lower.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y) {
  float sum = x[threadIdx.x];
  for (int step = (FIXED ? 32 : warpSize) / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  y[threadIdx.x] = sum;  // here
}
BOTH_OF(64, (const float *x, float *y), x, y)
