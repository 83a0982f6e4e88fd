// gfx1250: the address of a store is overwritten while the store may still have to be replayed: a wait for XCNT is missing.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  unsigned long long place = (unsigned long long)(y + threadIdx.x);
  unsigned value = x[threadIdx.x];
  unsigned low = (unsigned)place;
  if (FIXED) asm volatile("v_mov_b32 v32, %0\n v_mov_b32 v33, %1\n global_store_b32 v[32:33], %2, off\n s_wait_xcnt 0x0\n v_mov_b32 v32, 0" ::"v"(low), "v"((unsigned)(place >> 32)), "v"(value) : "v32", "v33", "memory");
  else asm volatile("v_mov_b32 v32, %0\n v_mov_b32 v33, %1\n global_store_b32 v[32:33], %2, off\n v_mov_b32 v32, 0" ::"v"(low), "v"((unsigned)(place >> 32)), "v"(value) : "v32", "v33", "memory");  // here
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
