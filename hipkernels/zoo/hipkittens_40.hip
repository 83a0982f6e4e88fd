// FP8 GEMM of 8 waves: an epilogue reads a tile earlier than before, and the wait for the copy that fills it stayed behind.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[256];
  unsigned t = threadIdx.x;
  unsigned to = __builtin_amdgcn_readfirstlane(256 * (t / 64));
  asm volatile(
      "s_mov_b32 m0, %2\n s_nop 1\n global_load_lds_dword %0, off\n"
      "s_add_u32 m0, m0, 512\n s_nop 1\n global_load_lds_dword %1, off" ::"v"(x + t), "v"(x + 128 + t), "s"(to), "s"(tile) : "memory", "scc");
  if (FIXED) asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  else asm volatile("s_waitcnt vmcnt(1)" ::: "memory");
  asm volatile("s_barrier" ::: "memory");
  unsigned first = tile[t ^ 64], second = tile[128 + (t ^ 64)];  // here
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  y[t] = first + 3 * second;
}
BOTH_OF(128, (const unsigned *x, unsigned *y), x, y)
