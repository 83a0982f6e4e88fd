// The number of an element is a product in 32 bits, although the type of the result has 64.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, unsigned first, long skipped) {
  unsigned workgroup = first + blockIdx.x;  // of more than 2^24
  long i = FIXED ? (long)workgroup * 256 + threadIdx.x : workgroup * 256 + threadIdx.x;
  y[i - skipped] = 2 * x[i - skipped];  // here
}
BOTH_OF(256, (const float *x, float *y, unsigned first, long skipped), x, y, first, skipped)
