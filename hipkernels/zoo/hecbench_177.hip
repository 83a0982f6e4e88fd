// The result of a ballot in an int: of a wave of 64 the upper lanes are gone.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  unsigned long long all = __ballot(x[threadIdx.x] > 0), mine = FIXED ? all : (unsigned)(int)all;
  y[threadIdx.x] = __popcll(mine & ((1ull << threadIdx.x) - 1));  // here
}
BOTH_OF(64, (const int *x, int *y), x, y)
