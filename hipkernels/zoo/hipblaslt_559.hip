// Arguments that a scalar load brings from a table in memory, used without the wait for it.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *table, unsigned *y) {
  unsigned both;
  asm volatile("s_load_dwordx2 s[20:21], %0, 0x8" : : "s"(table) : "s20", "s21", "memory");
  if (FIXED) asm volatile("s_waitcnt lgkmcnt(0)" : : : "s20", "s21", "memory");
  asm volatile("s_add_u32 s20, s20, s21\n s_waitcnt lgkmcnt(0)\n v_mov_b32 %0, s20" : "=v"(both) : : "s20", "s21", "scc", "memory");  // here
  y[threadIdx.x] = both;
}
BOTH_OF(64, (const unsigned *table, unsigned *y), table, y)
