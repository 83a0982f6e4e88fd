// gfx1250: instructions that read two places of the LDS need addresses that are multiples of what each reads.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ __attribute__((aligned(16))) unsigned tile[160];
  unsigned t = threadIdx.x;
  for (unsigned i = t; i < 160; i += 32) tile[i] = x[i];
  __syncthreads();
  unsigned at = 16 * t + (FIXED ? 0 : 4);
  uint4 back;
  asm volatile("ds_load_2addr_b64 %0, %1 offset1:1\n s_wait_dscnt 0x0" : "=v"(back) : "v"(at), "s"(tile) : "memory");  // here
  y[t] = back.x + back.w;
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
