// Parts of a split are combined through the LDS: weights are written into it while others read the maxima from there.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y) {
  __shared__ float lse[128];
  int t = threadIdx.x;
  lse[t] = x[t];
  __syncthreads();
  float most = fmaxf(lse[t], lse[t ^ 64]);
  if (FIXED) __syncthreads();
  lse[t] = x[t] == most ? 1.0f : 0.0f;  // here
  __syncthreads();
  y[t] = lse[t ^ 64];
}
BOTH_OF(128, (const float *x, float *y), x, y)
