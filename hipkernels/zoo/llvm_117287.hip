// gfx950: a permutation of lanes reads what a vector instruction has just written; 2 wait states are needed.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  unsigned one = x[threadIdx.x], two = ~one;
  if (FIXED) asm volatile("v_add_u32 %0, %0, 1\n s_nop 1\n v_permlane32_swap_b32 %0, %1\n" : "+v"(one), "+v"(two));
  else asm volatile("v_add_u32 %0, %0, 1\n v_permlane32_swap_b32 %0, %1\n" : "+v"(one), "+v"(two));  // here
  y[threadIdx.x] = one;
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
