// A matrix instruction with scales in a scalar register: the hardware takes bits 30:23, so only vector registers will do.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *y) {
  i32x8 ones;
  for (int i = 0; i < 8; i++) ones[i] = 0x38383838;  // E4M3
  f32x4 c;
  if (FIXED)
    asm volatile("v_mov_b32 v24, 0x7f7f7f7f\n s_nop 7\n v_mfma_scale_f32_16x16x128_f8f6f4 %0, %1, %1, 0, v24, v24\n s_nop 15" : "=&v"(c) : "v"(ones) : "v24");
  else  // v[0:3] = v[8:15] v[8:15] with s4 for both scales, which no assembler accepts
    asm volatile(
        "v_mov_b32 v8, %1\n v_mov_b32 v9, %1\n v_mov_b32 v10, %1\n v_mov_b32 v11, %1\n v_mov_b32 v12, %1\n v_mov_b32 v13, %1\n"
        "v_mov_b32 v14, %1\n v_mov_b32 v15, %1\n s_mov_b32 s4, 0x7f7f7f7f\n s_nop 7\n"
        ".long 0xd3ac0000, 0x00000804, 0xd3ad0800, 0x02021108\n s_nop 15\n v_mov_b32 %0, v0" : "=v"(c[0]) : "v"(ones[0])
        : "s4", "v0", "v1", "v2", "v3", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");  // here
  y[threadIdx.x] = c[0];
}
BOTH_OF(64, (float *y), y)
