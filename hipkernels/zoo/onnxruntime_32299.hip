// The first element of a row as a product of two ints: above 2^31 it is negative, and the row lies far before the tensor.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int first_batch, int stride, long long base) {
  long long first = FIXED ? (long long)first_batch * stride : (long long)(int)((unsigned)first_batch * (unsigned)stride);
  y[threadIdx.x] = x[first - base + threadIdx.x] * 2;  // here
}
BOTH_OF(64, (const float *x, float *y, int first_batch, int stride, long long base), x, y, first_batch, stride, base)
