// A running sum in shared memory that nobody sets to 0 before the first block adds to it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *lengths, unsigned *y) {
  __shared__ unsigned sum;
  unsigned t = threadIdx.x;
  if (FIXED) {
    if (t == 0) sum = 0;
    __syncthreads();
  }
  atomicAdd(&sum, lengths[t]);
  __syncthreads();
  y[t] = sum;  // here
}
BOTH_OF(128, (const unsigned *lengths, unsigned *y), lengths, y)
