// A partial wait before the barrier of a tile: copies straight to the LDS of other waves cross the barrier.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y, int turns) {
  __shared__ unsigned tile[2][128];
  unsigned t = threadIdx.x, sum = 0, to = __builtin_amdgcn_readfirstlane(256 * (t / 64));
  asm volatile("s_mov_b32 m0, %1\n s_nop 1\n global_load_lds_dword %0, off" ::"v"(x + t), "s"(to), "s"(tile) : "memory");
  for (int turn = 0; turn < turns; turn++) {
    int next = turn + 1 < turns ? turn + 1 : turn;
    asm volatile("s_mov_b32 m0, %1\n s_nop 1\n global_load_lds_dword %0, off" ::"v"(x + 128 * next + t), "s"(to + 512 * ((turn + 1) & 1)) : "memory");
    if (FIXED) asm volatile("s_waitcnt vmcnt(0)\n s_barrier" ::: "memory");
    else asm volatile("s_waitcnt vmcnt(2)\n s_barrier" ::: "memory");
    unsigned value = tile[turn & 1][t ^ 64];  // here
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" : "+v"(value)::"memory");
    sum = 3 * sum + value;
  }
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  y[t] = sum;
}
BOTH_OF(128, (const unsigned *x, unsigned *y, int turns), x, y, turns)
