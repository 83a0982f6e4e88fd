// Two different matrix instructions share an accumulator: forwarding does not reach, and 5 wait states are needed.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *y) {
  float result;
#define CHAIN(NOPS)                                                                                                \
  "v_mov_b32 v16, 0x3c003c00\n v_mov_b32 v17, v16\n v_mov_b32 v18, v16\n v_mov_b32 v19, v16\n s_nop 1\n"           \
  "v_mfma_f32_16x16x32_f16 v[32:35], v[16:19], v[16:19], 0\n" NOPS                                                 \
  "v_mfma_f32_16x16x16_f16 v[32:35], v[16:17], v[16:17], v[32:35]\n s_nop 15\n v_mov_b32 %0, v32\n"
#define REGISTERS "v16", "v17", "v18", "v19", "v32", "v33", "v34", "v35"
  if (FIXED) asm volatile(CHAIN("s_nop 4\n") : "=v"(result) : : REGISTERS);
  else asm volatile(CHAIN("") : "=v"(result) : : REGISTERS);  // here
  y[threadIdx.x] = result;
}
BOTH_OF(64, (float *y), y)
