// gfx950 needs 19 wait states, gfx942 11, between v_mfma_f64_16x16x4_f64 and a vector instruction that reads its D.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(double *y) {
  double result;
#define CHAIN(NOPS)                                                                     \
  "v_mov_b32 v16, 0\n v_mov_b32 v17, 0x3ff00000\n s_nop 1\n"                             \
  "v_mfma_f64_16x16x4_f64 v[32:39], v[16:17], v[16:17], 0\n" NOPS "v_add_f64 %0, v[32:33], v[32:33]\n"
#define REGISTERS "v16", "v17", "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39"
  if (FIXED) asm volatile(CHAIN("s_nop 15\n s_nop 2\n") : "=v"(result) : : REGISTERS);
  else asm volatile(CHAIN("s_nop 10\n") : "=v"(result) : : REGISTERS);  // here
  y[threadIdx.x] = result;
}
BOTH_OF(64, (double *y), y)
