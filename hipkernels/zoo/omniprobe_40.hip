// A launch that asks for too little LDS: what is dynamic was left out of the size.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  extern __shared__ int data[];
  int t = threadIdx.x;
  data[t] = x[t];  // here
  __syncthreads();
  y[t] = data[t ^ 64];
}
BOTH_OF(128, (const int *x, int *y), x, y)
