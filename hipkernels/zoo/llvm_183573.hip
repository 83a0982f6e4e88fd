// gfx1250: a dual-issued instruction overwrites B of a WMMA; the search for hazards knew single instructions alone.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *y) {
  float result;
#define CHAIN(NOPS)                                                                                                  \
  "v_mov_b32 v16, 0x3c003c00\n v_mov_b32 v17, v16\n v_mov_b32 v18, v16\n v_mov_b32 v19, v16\n v_mov_b32 v20, v16\n"  \
  "v_mov_b32 v21, v16\n v_mov_b32 v22, v16\n v_mov_b32 v23, v16\n"                                                   \
  "v_mov_b32 v24, v16\n v_mov_b32 v25, v16\n v_mov_b32 v26, v16\n v_mov_b32 v27, v16\n v_mov_b32 v28, v16\n"         \
  "v_mov_b32 v29, v16\n v_mov_b32 v30, v16\n v_mov_b32 v31, v16\n"                                                   \
  "v_wmma_f32_16x16x32_f16 v[32:39], v[16:23], v[24:31], 0\n" NOPS                                                   \
  "v_dual_mov_b32 v24, v16 :: v_dual_mov_b32 v25, v17\n"                                                             \
  "v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_mov_b32 %0, v32\n"
#define REGISTERS "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", \
  "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39"
  if (FIXED) asm volatile(CHAIN("v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n") : "=v"(result) : : REGISTERS);
  else asm volatile(CHAIN("") : "=v"(result) : : REGISTERS);  // here
  y[threadIdx.x] = result;
}
BOTH_OF(32, (float *y), y)
