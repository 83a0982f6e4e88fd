// WGP mode: a barrier with acquire order that leaves the L0 of the other compute unit as it is.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *room, unsigned *y) {
  unsigned t = threadIdx.x;
  unsigned old = __builtin_nontemporal_load(room + (t ^ 64));
  room[t] = x[t];
  asm volatile("s_waitcnt_vscnt null, 0x0\n s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
  if (FIXED) asm volatile("buffer_gl0_inv" ::: "memory");
  y[t] = room[t ^ 64] + 0 * old;  // here
}
BOTH_OF(128, (const unsigned *x, unsigned *room, unsigned *y), x, room, y)
