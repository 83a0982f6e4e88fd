// The number of elements as a product in 32 bits: it wraps, the loop ends early, and the rest is never written.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, unsigned rows, unsigned columns, unsigned step) {
  unsigned long long size = FIXED ? (unsigned long long)rows * columns : (unsigned long long)(rows * columns);
  // Every step-th element alone, as memory for all is not at hand.
  for (unsigned long long i = (unsigned long long)threadIdx.x * step; i < size; i += 64ull * step) y[i / step] = x[i / step];  // here
}
BOTH_OF(64, (const float *x, float *y, unsigned rows, unsigned columns, unsigned step), x, y, rows, columns, step)
