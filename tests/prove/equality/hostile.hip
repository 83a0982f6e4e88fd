// Pairs that were called equal once, each for a reason of its own: NAME_a and NAME_b differ for some contents.
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__ void
#define ASM(text) __asm__ volatile(text : "+v"(r) : "v"(a), "v"(b), "s"(x), "s"(n) : "vcc", "scc", "v60", "v61", "v62", "v63", "s40", "s41", "s42", "s43")
#define PAIR(name, first, second)                                                                                      \
    KERNEL name##_a(float *o, const float *x, const float *y, int n) { BODY(first) }                                   \
    KERNEL name##_b(float *o, const float *x, const float *y, int n) { BODY(second) }
#define BODY(text)                                                                                                     \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                     \
    if (i >= n) return;                                                                                                \
    unsigned a = ((const unsigned *)x)[i], b = ((const unsigned *)y)[i], r = 0;                                        \
    ASM(text);                                                                                                         \
    ((unsigned *)o)[i] = r;

#if defined(__gfx942__)
// The operands of an addition read different parts of their registers.
PAIR(commuted_parts, "v_add_u32_sdwa %0, %1, %2 dst_sel:DWORD src0_sel:BYTE_0 src1_sel:WORD_0",
     "v_add_u32_sdwa %0, %2, %1 dst_sel:DWORD src0_sel:BYTE_0 src1_sel:WORD_0")
// The upper half of the result is that of the destination, which is a source as well.
PAIR(kept_half, "v_mov_b32 v60, %1\nv_mov_b32 v61, %2\nv_add_u16_sdwa v60, v60, v61 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0\nv_mov_b32 %0, v60",
     "v_mov_b32 v60, %1\nv_mov_b32 v61, %2\nv_add_u16_sdwa v61, v60, v61 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0\nv_mov_b32 %0, v61")
// FP16_OVFL is bit 23 of MODE.
PAIR(overflow, "v_cvt_f16_f32 %0, %1",
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\nv_cvt_f16_f32 %0, %1\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0")
// Half of a lane mask becomes a number.
PAIR(half_of_a_mask, "v_cmp_lt_u32 s[40:41], %1, %2\nv_readfirstlane_b32 s42, %1\ns_mov_b32 s41, s42\nv_cndmask_b32 %0, 1, 2, s[40:41]",
     "v_cmp_lt_u32 s[40:41], %1, %2\ns_mov_b32 s41, 0\nv_cndmask_b32 %0, 1, 2, s[40:41]")
// A literal of 32 bits is no mask of 64 lanes.
PAIR(short_mask, "v_cmp_lt_u32 s[40:41], %1, %2\ns_and_b64 s[40:41], s[40:41], -1\nv_cndmask_b32 %0, 1, 2, s[40:41]",
     "v_cmp_lt_u32 s[40:41], %1, %2\ns_and_b64 s[40:41], s[40:41], 0xffffffff\nv_cndmask_b32 %0, 1, 2, s[40:41]")
// STATUS has SCC.
PAIR(status, "v_readfirstlane_b32 s42, %1\ns_bitcmp1_b32 s42, 0\ns_getreg_b32 s43, hwreg(HW_REG_STATUS, 0, 1)\nv_mov_b32 %0, s43",
     "v_readfirstlane_b32 s42, %1\ns_cmp_lg_u32 s42, s42\ns_getreg_b32 s43, hwreg(HW_REG_STATUS, 0, 1)\nv_mov_b32 %0, s43")
// CLAMP makes the low dword depend on the high one.
PAIR(clamped_sum, "v_mov_b32 v60, %1\nv_mov_b32 v61, %2\nv_mad_u64_u32 v[62:63], vcc, 2, 3, v[60:61] clamp\nv_mov_b32 %0, v62",
     "v_mov_b32 v60, %1\nv_mov_b32 v61, 0\nv_mad_u64_u32 v[62:63], vcc, 2, 3, v[60:61] clamp\nv_mov_b32 %0, v62")
// DST_SEL of 0 is a byte.
PAIR(low_byte, "v_add_u16 %0, %1, %2",
     "v_add_u16_sdwa %0, %1, %2 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0")
#endif
#if defined(__gfx1201__)
// A scalar register behind a lane mask of 32 lanes is none of its own.
PAIR(behind_a_mask, "v_cmp_lt_u32 s40, %1, %2\ns_mov_b32 s41, 5\nv_cndmask_b32 %0, 1, 2, s40", "v_mov_b32 %0, 1")
PAIR(beside_a_mask, "v_cmp_lt_u32 s40, %1, %2\nv_readfirstlane_b32 s41, %1\nv_cndmask_b32 %0, s41, %2, s40",
     "v_cmp_lt_u32 s40, %1, %2\ns_mov_b32 s41, 6\nv_cndmask_b32 %0, s41, %2, s40")
#endif
