// A barrier for all work-items that waits for the LDS alone: stores to memory are in flight when the flag is raised.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *room, unsigned *flag, unsigned *y) {
  unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    asm volatile("global_store_dword %0, %1, off sc1" ::"v"(room + t), "v"(x[t]) : "memory");
    if (FIXED) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
    if (t == 0) __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    if (t == 0)
      while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
    __syncthreads();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    y[t] = room[t];  // here
  }
}
BOTH_OF(128, (const unsigned *x, unsigned *room, unsigned *flag, unsigned *y), x, room, flag, y)
