// A store of four dwords in a divergent branch, and a vector instruction behind it that overwrites its data.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, uint4 *y) {
  unsigned value = x[threadIdx.x];
  uint4 *place = y + threadIdx.x;
#define CHAIN(NOPS)                                                                              \
  "v_mov_b32 v32, %0\n v_mov_b32 v33, %0\n v_mov_b32 v34, %0\n v_mov_b32 v35, %0\n"              \
  "s_mov_b64 s[20:21], exec\n v_cmp_ne_u32 vcc, 0, %0\n s_and_b64 exec, exec, vcc\n"             \
  "global_store_dwordx4 %1, v[32:35], off\n s_or_b64 exec, exec, s[20:21]\n" NOPS                \
  "v_pk_mul_f32 v[32:33], v[34:35], v[34:35]\n s_waitcnt vmcnt(0)\n"
#define REGISTERS "v32", "v33", "v34", "v35", "s20", "s21", "vcc", "memory"
  if (FIXED) asm volatile(CHAIN("s_nop 0\n") : : "v"(value), "v"(place) : REGISTERS);
  else asm volatile(CHAIN("") : : "v"(value), "v"(place) : REGISTERS);  // here
}
BOTH_OF(64, (const unsigned *x, uint4 *y), x, y)
