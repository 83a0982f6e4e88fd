// Split K: the producer signals by an atomic decrement, the reducer polls by a load and clears by a plain store.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *part, unsigned *slot, float *y) {
  unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    part[t] = x[t];
    __threadfence();
    if (t == 0) atomicAdd(slot, 1u);
  } else {
    if (t == 0) {
      if (FIXED) {
        while (atomicExch(slot, 0u) != 1) __builtin_amdgcn_s_sleep(1);
      } else {
        unsigned seen;
        do asm volatile("global_load_b32 %0, %1, off\n s_wait_loadcnt 0x0" : "=v"(seen) : "v"(slot) : "memory");  // here
        while (seen != 1);
        *slot = 0;
      }
    }
    __threadfence();
    y[t] = x[32 + t] + part[t];
  }
}
BOTH_OF(32, (const float *x, float *part, unsigned *slot, float *y), x, part, slot, y)
