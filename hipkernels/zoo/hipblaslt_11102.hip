// A barrier signal that asks whether it is the first one writes SCC between a comparison and its branch.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(unsigned *y, unsigned turns) {
  unsigned count = 0;
  if (FIXED)
    asm volatile("1: s_add_co_u32 %0, %0, 1\n s_barrier_signal_isfirst -1\n s_barrier_wait -1\n s_cmp_lt_u32 %0, %1\n s_cbranch_scc1 1b" : "+s"(count) : "s"(turns) : "scc", "memory");
  else
    asm volatile("2: s_add_co_u32 %0, %0, 1\n s_cmp_lt_u32 %0, %1\n s_barrier_signal_isfirst -1\n s_barrier_wait -1\n s_cbranch_scc0 2b\n" : "+s"(count) : "s"(turns) : "scc", "memory");  // here
  y[threadIdx.x] = count;
}
BOTH_OF(32, (unsigned *y, unsigned turns), y, turns)
