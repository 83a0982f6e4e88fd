// WGP mode: a barrier with acquire order that leaves the L0 of the wave's compute unit as it is, with a line read before.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *room, unsigned *y) {
  unsigned t = threadIdx.x, at = 4 * (t ^ 64), old;
  asm volatile("global_load_b32 %0, %1, %2\n s_waitcnt vmcnt(0)\n s_barrier" : "=v"(old) : "v"(at), "s"(room) : "memory");
  room[t] = x[t] + old;
  asm volatile("s_waitcnt_vscnt null, 0x0\n s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
  if (FIXED) asm volatile("buffer_gl0_inv" ::: "memory");
  y[t] = room[t ^ 64];  // here
}
BOTH_OF(128, (const unsigned *x, unsigned *room, unsigned *y), x, room, y)
