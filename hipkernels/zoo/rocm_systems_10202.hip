// gfx1250: M0 is 0 for a load of a cluster, and gets its old value back while the load may still be replayed.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  unsigned value, at = 4 * threadIdx.x;
  const unsigned *from = x;
#define LOAD(WAIT) "s_mov_b32 m0, 0\n cluster_load_b32 %0, %1, %2\n" WAIT "s_mov_b32 m0, 1\n s_wait_loadcnt 0x0\n s_mov_b32 m0, 0"
  if (FIXED) asm volatile(LOAD("s_wait_xcnt 0x0\n") : "=v"(value) : "v"(at), "s"(from) : "memory");
  else asm volatile(LOAD("") : "=v"(value) : "v"(at), "s"(from) : "memory");  // here
  y[threadIdx.x] = value;
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
