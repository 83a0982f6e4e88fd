// gfx1250: a vector instruction overwrites operand C of a WMMA that has not read it yet.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *y) {
  float result, tail;
#define ONES(R) "v_mov_b32 v" #R ", 0x3f803f80\n"
#define CHAIN(NOPS)                                                                                      \
  ONES(32) ONES(33) ONES(34) ONES(35) ONES(36) ONES(37) ONES(38) ONES(39)                                \
  ONES(40) ONES(41) ONES(42) ONES(43) ONES(44) ONES(45) ONES(46) ONES(47)                                \
  "v_mov_b32 v48, 0\n v_mov_b32 v49, 0\n v_mov_b32 v50, 0\n v_mov_b32 v51, 0\n"                          \
  "v_mov_b32 v52, 0\n v_mov_b32 v53, 0\n v_mov_b32 v54, 0\n v_mov_b32 v55, 0\n"                          \
  "v_nop\n v_nop\n v_nop\n v_nop\n"                                                                      \
  "v_wmma_f32_16x16x32_bf16 v[56:63], v[32:39], v[40:47], v[48:55]\n" NOPS                               \
  "v_mov_b32 v48, 1.0\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n"                 \
  "v_mov_b32 %0, v56\n v_mov_b32 %1, v48\n"
#define REGISTERS "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41", "v42", "v43", "v44", "v45", "v46", \
  "v47", "v48", "v49", "v50", "v51", "v52", "v53", "v54", "v55", "v56", "v57", "v58", "v59", "v60", "v61", "v62", "v63"
  if (FIXED) asm volatile(CHAIN("v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n") : "=&v"(result), "=&v"(tail) : : REGISTERS);
  else asm volatile(CHAIN("") : "=&v"(result), "=&v"(tail) : : REGISTERS);  // here
  y[threadIdx.x] = result + tail;
}
BOTH_OF(32, (float *y), y)
