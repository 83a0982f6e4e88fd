// gfx950: a permutation of lanes right behind a comparison that writes EXEC.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  unsigned low = x[threadIdx.x], high = ~low;
#define SWAP(NOPS) "s_nop 4\n v_cmpx_eq_u32 exec, %0, %0\n" NOPS "v_permlane32_swap_b32 %0, %1\n s_nop 4"
  if (FIXED) asm volatile(SWAP("s_nop 4\n") : "+v"(low), "+v"(high));
  else asm volatile(SWAP("") : "+v"(low), "+v"(high));  // here
  y[threadIdx.x] = low;
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
