// A shuffle reads a lane that is not in the branch: the value is 0, or what the register held.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  int t = threadIdx.x, value = x[t], got = FIXED ? __shfl(value, 50) : 0;
  if (t < 40) {
    if (!FIXED) got = __shfl(value, 50);
    y[t] = got + 1;  // here
  }
}
BOTH_OF(64, (const int *x, int *y), x, y)
