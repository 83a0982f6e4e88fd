// A synchronise that is only the barrier instruction, without the fence that waits for stores to the LDS.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned sums[128];
  unsigned t = threadIdx.x, at = 4 * t, before;
  sums[t] = x[t];
  __syncthreads();
  for (unsigned step = 64; step < 128; step *= 2) {
    before = t >= step ? sums[t - step] : 0;
    __syncthreads();
    asm volatile("ds_add_u32 %0, %1" ::"v"(at), "v"(before) : "memory");
    if (FIXED) asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
    asm volatile("s_barrier" ::: "memory");
  }
  y[t] = sums[t ^ 64];  // here
}
BOTH_OF(128, (const unsigned *x, unsigned *y), x, y)
