// vmcnt(4) taken for "four have arrived": it lets four be in flight, which are all that were issued.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[256];
  unsigned t = threadIdx.x, sum = 0;
  asm volatile(
      "s_mov_b32 m0, 0\n s_nop 1\n global_load_lds_dword %0, off\n"
      "global_load_lds_dword %0, off offset:256\n"
      "global_load_lds_dword %0, off offset:512\n"
      "global_load_lds_dword %0, off offset:768\n" ::"v"(x + t), "s"(tile) : "m0", "memory");
  if (FIXED) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  else asm volatile("s_waitcnt vmcnt(4)" ::: "memory");
  for (unsigned i = 0; i < 4; i++) sum = 3 * sum + tile[64 * i + t];  // here
  y[t] = sum;
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
