// RDNA2: a load straight to the LDS was counted in VSCNT; the wait for it has to be one for VMCNT.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[32];
  unsigned t = threadIdx.x, back;
  unsigned long long base = (unsigned long long)x;
  i32x4 resource = {(int)base, (int)(base >> 32), 128, 0x31016000};
#define LOAD "s_mov_b32 m0, 0\n buffer_load_dword %0, %1, 0 offen lds\n"
  if (FIXED) asm volatile(LOAD "s_waitcnt vmcnt(0)" ::"v"(4 * t), "s"(resource), "s"(tile) : "memory");
  else asm volatile(LOAD "s_waitcnt_vscnt null, 0x0" ::"v"(4 * t), "s"(resource), "s"(tile) : "memory");
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(back) : "v"(4 * t) : "memory");  // here
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  y[t] = back;
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
