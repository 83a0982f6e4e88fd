// A load straight to the LDS counts in vmcnt alone; a wait for lgkmcnt does not cover it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[64];
  unsigned t = threadIdx.x, back;
  asm volatile("s_mov_b32 m0, 0\n s_nop 1\n global_load_lds_dword %0, off" ::"v"(x + t), "s"(tile) : "m0", "memory");
  if (FIXED) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  else asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(back) : "v"(4 * t) : "memory");  // here
  y[t] = back;
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
