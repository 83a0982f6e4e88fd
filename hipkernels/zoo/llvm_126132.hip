// A vector instruction that overwrites D of a matrix instruction of four passes: 8 wait states on gfx950, 7 on gfx942.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(unsigned *y) {
  unsigned result;
#define CHAIN(NOPS)                                              \
  "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_nop 1\n"              \
  "v_mfma_f32_16x16x16_f16 v[32:35], v[16:17], v[16:17], 0\n" NOPS \
  "v_mov_b32 v33, 7\n s_nop 7\n v_mov_b32 %0, v33\n"
#define REGISTERS "v16", "v17", "v32", "v33", "v34", "v35"
  if (FIXED) asm volatile(CHAIN("s_nop 7\n") : "=v"(result) : : REGISTERS);
  else asm volatile(CHAIN("s_nop 6\n") : "=v"(result) : : REGISTERS);  // here
  y[threadIdx.x] = result;
}
BOTH_OF(64, (unsigned *y), y)
