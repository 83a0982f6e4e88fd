// The kernel was built for eight waves, and is launched with one: the reduction reads what the others did not write.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int waves) {
  __shared__ float partial[8][32];
  int lane = threadIdx.x % 32, wave = threadIdx.x / 32;
  partial[wave][lane] = x[threadIdx.x];
  __syncthreads();
  if (wave > 0) return;
  float sum = 0;
  for (int i = 0; i < (FIXED ? waves : 8); i++) sum += partial[i][lane];
  y[lane] = sum;  // here
}
BOTH_OF(256, (const float *x, float *y, int waves), x, y, waves)
