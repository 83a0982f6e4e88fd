// The search for hazards looked back 19 instructions; D of sixteen passes as A of the next needs 20 between on gfx950.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *y) {
  float result;
#define CHAIN(NOPS)                                                      \
  "v_mov_b32 v16, 0x3c003c00\n v_mov_b32 v17, 0x3c003c00\n s_nop 1\n"     \
  "v_mfma_f32_32x32x4_2b_f16 v[32:63], v[16:17], v[16:17], 0\n" NOPS      \
  "v_mfma_f32_32x32x2_f32 v[64:79], v32, v33, 0\n"                       \
  "s_nop 15\n s_nop 3\n v_mov_b32 %0, v64\n s_nop 1\n"
#define REGISTERS "v16", "v17", "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41", "v42", "v43", "v44", \
  "v45", "v46", "v47", "v48", "v49", "v50", "v51", "v52", "v53", "v54", "v55", "v56", "v57", "v58", "v59", "v60", "v61",     \
  "v62", "v63", "v64", "v65", "v66", "v67", "v68", "v69", "v70", "v71", "v72", "v73", "v74", "v75", "v76", "v77", "v78", "v79"
  if (FIXED) asm volatile(CHAIN("s_nop 15\n s_nop 3\n") : "=v"(result) : : REGISTERS);
  else asm volatile(CHAIN("s_nop 15\n s_nop 2\n") : "=v"(result) : : REGISTERS);  // here
  y[threadIdx.x] = result;
}
BOTH_OF(64, (float *y), y)
