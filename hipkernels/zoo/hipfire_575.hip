// Sum of squares in the LDS, read by all waves, whose place is written anew right after: a wave that lags reads that.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y) {
  __shared__ float room[256];
  unsigned t = threadIdx.x;
  room[t] = x[t] * x[t];
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2) {
    if (t < step) room[t] += room[t + step];
    __syncthreads();
  }
  float scale = room[0];
  if (FIXED) __syncthreads();
  room[t] = x[t];  // here
  __syncthreads();
  y[t] = scale + room[t ^ 64];
}
BOTH_OF(256, (const float *x, float *y), x, y)
