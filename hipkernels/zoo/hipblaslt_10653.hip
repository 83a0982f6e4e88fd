// gfx1250: an asynchronous copy to the LDS is waited for by DSCNT, which does not count it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[32];
  unsigned t = threadIdx.x, back;
  asm volatile("global_load_async_to_lds_b32 %0, %1, off" ::"v"(4 * t), "v"(x + t), "s"(tile) : "memory");
  if (FIXED) asm volatile("s_wait_asynccnt 0x0" ::: "memory");
  else asm volatile("s_wait_dscnt 0x0" ::: "memory");
  asm volatile("ds_load_b32 %0, %1\n s_wait_dscnt 0x0" : "=v"(back) : "v"(4 * t) : "memory");  // here
  y[t] = back;
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
