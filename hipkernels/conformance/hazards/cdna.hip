// CDNA: pairs of instructions that only software keeps apart, each with as many wait states between as the manuals ask.
//
// Every pair stands in one piece of inline assembly, in which the compiler puts nothing. mutants.py takes states out.
#include <hip/hip_runtime.h>

#define KERNEL(NAME) extern "C" __global__ void __launch_bounds__(256) NAME(const unsigned *in, unsigned *out)

// A scalar register that a vector instruction wrote, as the number of a lane: 4 wait states.
KERNEL(lane_select) {
  unsigned t = threadIdx.x, x = in[t], y;
  asm volatile(
      "v_readfirstlane_b32 s20, %1\n"
      "s_and_b32 s20, s20, 63\n"
      "s_nop 0\n"
      "v_mov_b32 %0, s20\n"
      "s_nop 0\n"
      "v_readfirstlane_b32 s21, %0\n"
      "s_nop 3\n"  // lane: select
      "v_readlane_b32 s22, %1, s21\n"
      "s_nop 1\n"  // lane: constant
      "v_xor_b32 %0, s22, %1\n"
      : "=&v"(y) : "v"(x) : "s20", "s21", "s22");
  out[t] = y;
}

// A scalar register that a vector instruction wrote, as the base of an address: 5 wait states.
KERNEL(scalar_base) {
  unsigned t = threadIdx.x, y;
  unsigned long long p = (unsigned long long)in;
  unsigned low = (unsigned)p, high = (unsigned)(p >> 32), offset = 4 * (255 - t);
  asm volatile(
      "s_nop 1\n"
      "v_readfirstlane_b32 s20, %1\n"
      "v_readfirstlane_b32 s21, %2\n"
      "s_nop 4\n"  // base: far
      "global_load_dword %0, %3, s[20:21]\n"
      "s_waitcnt vmcnt(0)\n"
      : "=&v"(y) : "v"(low), "v"(high), "v"(offset) : "s20", "s21", "memory");
  out[t] = y;
}

// A vector register that was just written, read from another lane: 2 wait states.
KERNEL(other_lane) {
  unsigned t = threadIdx.x, x = in[t], y;
  asm volatile(
      "v_not_b32 %0, %1\n"
      "s_nop 1\n"  // dpp: far
      "v_mov_b32_dpp %0, %0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"
      "s_nop 0\n"
      : "=&v"(y) : "v"(x));
  out[t] = y;
}

// Data of a wide store, overwritten: 1 wait state on CDNA2, 2 from CDNA3 on.
extern "C" __global__ void __launch_bounds__(256) store_data(const unsigned *in, uint4 *out) {
  unsigned t = threadIdx.x;
  asm volatile(
      "v_mov_b32 v8, 1\n"
      "v_mov_b32 v9, %0\n"
      "v_mov_b32 v10, 3\n"
      "v_mov_b32 v11, 4\n"
      "global_store_dwordx4 %1, v[8:11], off\n"
      "s_nop 1\n"  // store: data
      "v_mov_b32 v9, 0\n"
      "s_waitcnt vmcnt(0)\n"
      : : "v"(in[t]), "v"(out + t) : "v8", "v9", "v10", "v11", "memory");
}

// A transcendental result: 1 wait state from CDNA3 on. A comparison's mask: 2.
KERNEL(reciprocal) {
  unsigned t = threadIdx.x, x = in[t], y;
  float f = (float)(1u << (x & 15)), g;
  asm volatile(
      "s_nop 1\n"
      "v_rcp_f32 %0, %1\n"
      "s_nop 0\n"  // reciprocal: far
      "v_mul_f32 %0, 2.0, %0\n"
      "s_nop 1\n"
      : "=&v"(g) : "v"(f));
  asm volatile(
      "s_nop 1\n"
      "v_cmp_gt_u32 s[20:21], %2, %1\n"
      "s_nop 1\n"  // mask: far
      "v_cndmask_b32 %0, 0, %2, s[20:21]\n"
      "s_nop 1\n"
      : "=&v"(y) : "v"(t), "v"(x) : "s20", "s21");
  out[t] = y ^ __float_as_uint(g);
}

// A result of two passes (5 wait states) and what it was made of: A and B are ones, so that D = C + 4.
KERNEL(two_passes) {
  unsigned t = threadIdx.x;
  float x = (float)(in[t] & 1023), y;
  unsigned ones = 0x3C003C00;
  asm volatile(
      "v_mov_b32 v20, %1\n"
      "v_mov_b32 v21, %1\n"
      "v_mov_b32 v22, %1\n"
      "v_mov_b32 v23, %1\n"
      "v_mov_b32 v24, %2\n"
      "v_mov_b32 v25, %2\n"
      "s_nop 1\n"  // passes: sources
      "v_mfma_f32_4x4x4_16b_f16 v[20:23], v[24:25], v[24:25], v[20:23]\n"
      "s_nop 1\n"  // passes: the same registers as C
      "v_mfma_f32_4x4x4_16b_f16 v[20:23], v[24:25], v[24:25], v[20:23]\n"
      "s_nop 4\n"  // passes: result
      "v_mov_b32 %0, v22\n"
      "s_nop 1\n"
      : "=&v"(y) : "v"(x), "v"(ones) : "v20", "v21", "v22", "v23", "v24", "v25");
  out[t] = __float_as_uint(y);
}

// A result of four passes as A of the next instruction: 7 wait states on CDNA3, 8 on CDNA4; f32 of eight passes: 10.
KERNEL(result_as_source) {
  unsigned t = threadIdx.x, x = in[t], ones = 0x3C003C00;
  float y;
  asm volatile(
      "v_mov_b32 v20, 0\n"
      "v_mov_b32 v21, 0\n"
      "v_mov_b32 v22, 0\n"
      "v_mov_b32 v23, 0\n"
      "v_mov_b32 v24, %1\n"
      "v_mov_b32 v25, %1\n"
      "s_nop 1\n"
      "v_mfma_f32_16x16x16_f16 v[20:23], v[24:25], v[24:25], v[20:23]\n"
      "s_nop 7\n"  // source: four passes
      "v_mfma_f32_16x16x4_f32 v[28:31], v20, v21, 0\n"
      "s_nop 9\n"  // source: eight passes
      "v_mov_b32 %0, v30\n"
      "s_nop 1\n"
      : "=&v"(y) : "v"(ones)
      : "v20", "v21", "v22", "v23", "v24", "v25", "v28", "v29", "v30", "v31");
  out[t] = x ^ __float_as_uint(y);
}

// C is read late: 7 wait states before a vector instruction may overwrite what 8 passes read.
KERNEL(source_overwritten) {
  unsigned t = threadIdx.x, x = in[t], zero = 0;
  float y;
  asm volatile(
      "v_mov_b32 v16, %1\n"
      "v_mov_b32 v17, %1\n"
      ".irp n, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63\n"
      "v_mov_b32 v\\n, %1\n"
      ".endr\n"
      "s_nop 1\n"
      "v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[16:17], v[48:63]\n"
      "s_nop 6\n"  // overwritten: far
      "v_mov_b32 v50, %1\n"
      "s_nop 11\n"
      "v_cvt_f32_u32 %0, v50\n"
      : "=&v"(y) : "v"(zero)
      : "v16", "v17", "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v40", "v41", "v42", "v43", "v44", "v45",
        "v46", "v47", "v48", "v49", "v50", "v51", "v52", "v53", "v54", "v55", "v56", "v57", "v58", "v59", "v60", "v61",
        "v62", "v63");
  out[t] = x + (unsigned)y;
}
