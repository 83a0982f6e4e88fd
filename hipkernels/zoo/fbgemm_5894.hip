// Waves behind the end of the row return before a reduction of the workgroup, whose barriers they do not reach.
#include "zoo.h"

__device__ float largest(float v) {
  __shared__ float all[256];
  int t = threadIdx.x;
  all[t] = v;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (t < step) all[t] = fmaxf(all[t], all[t + step]);
    __syncthreads();  // here
  }
  return all[0];
}

template <bool FIXED>
__device__ void entry(const float *x, float *y, int n) {
  int i = threadIdx.x;
  if (!FIXED && i >= n) return;
  float most = largest(i < n ? fabsf(x[i]) : 0);
  if (i < n) y[i] = x[i] > most / 2 ? x[i] : 0;
}
BOTH_OF(256, (const float *x, float *y, int n), x, y, n)  // here
