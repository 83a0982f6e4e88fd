// RDNA: pairs of instructions that only software keeps apart. S_NOP does not help: a vector instruction must lie between.
//
// Every pair stands in one piece of inline assembly, in which the compiler puts nothing. mutants.py takes instructions out.
#include <hip/hip_runtime.h>

#define KERNEL(NAME) extern "C" __global__ void __launch_bounds__(256) NAME(const unsigned *in, unsigned *out)

// D of one WMMA as A of the next: D of the first is all ones, so that the second gives its K.
KERNEL(matrix_chain) {
  unsigned t = threadIdx.x, x = in[t], ones = 0x3C003C00;
  float y;
#if defined(__GFX12__)
#define SOURCES "v[24:27], v[32:35]"
#define AGAIN "v[16:19], v[32:35]"
#else
#define SOURCES "v[24:31], v[32:39]"
#define AGAIN "v[16:23], v[32:39]"
#endif
  asm volatile(
      "v_mov_b32 v24, 0\n v_mov_b32 v25, 0\n v_mov_b32 v26, 0\n v_mov_b32 v27, 0\n"
      "v_mov_b32 v28, 0\n v_mov_b32 v29, 0\n v_mov_b32 v30, 0\n v_mov_b32 v31, 0\n"
      "v_mov_b32 v32, %1\n v_mov_b32 v33, %1\n v_mov_b32 v34, %1\n v_mov_b32 v35, %1\n"
      "v_mov_b32 v36, %1\n v_mov_b32 v37, %1\n v_mov_b32 v38, %1\n v_mov_b32 v39, %1\n"
      "v_wmma_f32_16x16x16_f16 v[16:23], " SOURCES ", 1.0\n"
      "v_nop\n"  // chain: between
      "v_wmma_f32_16x16x16_f16 v[48:55], " AGAIN ", 0\n"
      "v_nop\n"
      "v_mov_b32 %0, v50\n"
      : "=&v"(y) : "v"(ones)
      : "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
        "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39", "v48", "v49", "v50", "v51", "v52", "v53", "v54", "v55");
  out[t] = x ^ __float_as_uint(y);
}

// V_PERMLANE after V_CMPX: exchanges the lanes of a row, 15 - lane.
KERNEL(reversed_rows) {
  unsigned t = threadIdx.x, x = in[t], y;
  asm volatile(
      "s_mov_b32 s20, 0x89abcdef\n"
      "s_mov_b32 s21, 0x01234567\n"
      "s_mov_b32 s22, exec_lo\n"
      "v_cmpx_eq_u32 %1, %1\n"
      "v_nop\n"  // rows: between
      "v_permlane16_b32 %0, %1, s20, s21\n"
      "s_mov_b32 exec_lo, s22\n"
      : "=&v"(y) : "v"(x) : "s20", "s21", "s22", "vcc");
  out[t] = y;
}

// gfx11.0: a transcendental result needs a wait.
KERNEL(reciprocal_rdna) {
  unsigned t = threadIdx.x, x = in[t];
  float f = (float)(1u << (x & 15)), g;
  asm volatile(
      "v_rcp_f32 %0, %1\n"
      "s_waitcnt_depctr 0xfff\n"  // reciprocal: wait
      "v_mul_f32 %0, 2.0, %0\n"
      : "=&v"(g) : "v"(f));
  out[t] = __float_as_uint(g);
}
