// WGP mode: a scratch store to memory, a barrier for the LDS alone, and another wave's reload of it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *room, unsigned *y) {
  unsigned t = threadIdx.x;
  asm volatile("global_store_b32 %0, %1, off" ::"v"(room + t), "v"(x[t]) : "memory");
  if (FIXED) asm volatile("s_waitcnt_vscnt null, 0x0" ::: "memory");
  asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier\n buffer_gl0_inv" ::: "memory");
  y[t] = room[t ^ 64];  // here
}
BOTH_OF(128, (const unsigned *x, unsigned *room, unsigned *y), x, room, y)
