// Fences limited to the LDS lost the wait for its stores before the split barrier.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned sums[128];
  unsigned t = threadIdx.x, value = x[t], at = 4 * t, back;
  asm volatile("ds_store_b32 %0, %1" ::"v"(at), "v"(value) : "memory");
  if (FIXED) asm volatile("s_wait_dscnt 0" ::: "memory");
  asm volatile("s_barrier_signal -1\n s_barrier_wait -1" ::: "memory");
  asm volatile("ds_load_b32 %0, %1\n s_wait_dscnt 0" : "=v"(back) : "v"(at ^ 128), "s"(sums) : "memory");  // here
  y[t] = back;
}
BOTH_OF(128, (const unsigned *x, unsigned *y), x, y)
