// M0, the place of a copy to the LDS, is set once and not again behind a call, which does not preserve it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y, unsigned left) {
  __shared__ unsigned tile[128];
  unsigned t = threadIdx.x, first, second;
  asm volatile("s_mov_b32 m0, 0\n s_nop 1\n global_load_lds_dword %0, off" ::"v"(x + t), "s"(tile) : "memory");
  asm volatile("s_mov_b32 m0, %0\n s_nop 1" ::"s"(left) : "memory");  // what the call leaves
  if (FIXED) asm volatile("s_movk_i32 m0, 256\n s_nop 1" ::: "memory");
  asm volatile("global_load_lds_dword %0, off\n s_waitcnt vmcnt(0)" ::"v"(x + 64 + t) : "memory");  // here
  asm volatile("ds_read_b32 %0, %2\n ds_read_b32 %1, %2 offset:256\n s_waitcnt lgkmcnt(0)" : "=&v"(first), "=&v"(second) : "v"(4 * t) : "memory");
  y[t] = first + second;
}
BOTH_OF(64, (const unsigned *x, unsigned *y, unsigned left), x, y, left)
