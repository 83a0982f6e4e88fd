// Attention scores that are all masked: the row's largest is -inf, and -inf - -inf is NaN.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *scores, float *y) {
  float value = scores[blockIdx.x * 64 + threadIdx.x], most = value;
  for (int step = 32; step > 0; step /= 2) most = fmaxf(most, __shfl_xor(most, step));
  if (FIXED && most == -__builtin_inff()) most = 0;
  float weight = exp2f(value - most), sum = weight;  // here
  for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  y[blockIdx.x * 64 + threadIdx.x] = FIXED && sum == 0 ? 0 : weight / sum;
}
BOTH_OF(64, (const float *scores, float *y), scores, y)
