// Split barriers: a wave signals for the next generation before it has waited for this one.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[64];
  unsigned t = threadIdx.x;
  tile[t] = x[t];
  asm volatile("s_wait_dscnt 0x0\n s_barrier_signal -1" ::: "memory");
  if (FIXED) asm volatile("s_barrier_wait -1" ::: "memory");
  if (!FIXED && t < 32) {
    asm volatile("s_barrier_signal -1\n s_barrier_wait -1" ::: "memory");  // here
  } else if (!FIXED) {
    asm volatile("s_barrier_wait -1" ::: "memory");
  }
  y[t] = tile[t ^ 32];
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
