// Synchronises workgroups by relaxed operations: nothing behind the wait makes the other workgroups' stores visible.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *room, unsigned *count, unsigned *y) {
  unsigned t = threadIdx.x, g = blockIdx.x;
  unsigned old = room[(1 - g) * 64 + t];
  room[g * 64 + t] = x[g * 64 + t];
  __threadfence();
  if (t == 0) {
    atomicAdd(count, 1u);
    while (__hip_atomic_load(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < 2) __builtin_amdgcn_s_sleep(1);
  }
  if (FIXED) __threadfence();
  y[g * 64 + t] = room[(1 - g) * 64 + t] + 0 * old;  // here
}
BOTH_OF(64, (const unsigned *x, unsigned *room, unsigned *count, unsigned *y), x, room, count, y)
