// Tree reduction over waves: the upper half publishes, the lower half reads, and the next level writes the same slots.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y) {
  __shared__ float slots[4 * 64];
  unsigned lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  float most = fabsf(x[threadIdx.x]);
  for (unsigned half = 4; half > 0; half /= 2) {
    if (wave >= half && wave < 2 * half) slots[(wave - half) * 64 + lane] = most;  // here
    __syncthreads();
    if (wave < half) most = fmaxf(most, slots[wave * 64 + lane]);
    if (FIXED) __syncthreads();
  }
  if (wave == 0) y[lane] = most;
}
BOTH_OF(512, (const float *x, float *y), x, y)
