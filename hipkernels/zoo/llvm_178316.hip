// A write-back of the L2 before a flag for another device: it counts in vmcnt, and the flag has to wait for it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *room, unsigned *flag) {
  unsigned t = threadIdx.x;
  room[t] = x[t];
  asm volatile("s_waitcnt vmcnt(0)\n buffer_wbl2 sc0 sc1" ::: "memory");
  if (FIXED) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  if (t == 0) __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);  // here
}
BOTH_OF(64, (const unsigned *x, unsigned *room, unsigned *flag), x, room, flag)
