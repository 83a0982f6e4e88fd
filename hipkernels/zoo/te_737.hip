// Scales of blocks: a block of tiny numbers has a scale whose reciprocal is infinite.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y) {
  float value = x[64 * blockIdx.x + threadIdx.x], most = fabsf(value);
  for (int step = 32; step > 0; step /= 2) most = fmaxf(most, __shfl_xor(most, step));
  if (FIXED) most = fmaxf(most, 1e-30f);
  y[64 * blockIdx.x + threadIdx.x] = value * (448.0f / most);  // here
}
BOTH_OF(64, (const float *x, float *y), x, y)
