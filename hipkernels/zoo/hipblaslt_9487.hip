// gfx1250: an asynchronous store reads the LDS, which the next tile overwrites without a wait for it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[32];
  unsigned t = threadIdx.x;
  for (unsigned turn = 0; turn < 2; turn++) {
    unsigned value = x[32 * turn + t];
    asm volatile("ds_store_b32 %0, %1\n s_wait_dscnt 0x0" ::"v"(4 * t), "v"(value), "s"(tile) : "memory");  // here
    asm volatile("global_store_async_from_lds_b32 %0, %1, off" ::"v"(y + 32 * turn + t), "v"(4 * t) : "memory");
    if (FIXED) asm volatile("s_wait_asynccnt 0x0" ::: "memory");
  }
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
