// A wait and a bare barrier do not order memory for the compiler, which moved a store to the LDS below the barrier.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[256];
  unsigned t = threadIdx.x;
  if (FIXED) tile[t] = x[t];
  asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
  if (!FIXED) tile[t] = x[t];  // here
  y[t] = tile[t ^ 64];
}
BOTH_OF(256, (const unsigned *x, unsigned *y), x, y)
