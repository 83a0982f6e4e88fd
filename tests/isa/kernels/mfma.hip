// Small matrix kernels: one wave, one tile, built from compiler builtins alone.
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));

GLOBAL void f32_32x32x2(const float *a, const float *b, float *d) {
  int lane = __builtin_amdgcn_workitem_id_x();
  f32x16 acc = {};
  acc = __builtin_amdgcn_mfma_f32_32x32x2f32(a[lane], b[(lane >> 5) * 32 + (lane & 31)], acc, 0, 0, 0);
  for (int i = 0; i < 16; ++i) d[(8 * (i / 4) + 4 * (lane / 32) + i % 4) * 32 + lane % 32] = acc[i];
}

GLOBAL void f16_16x16x16(const f16x4 *a, const f16x4 *b, f32x4 *d, int steps) {
  int lane = __builtin_amdgcn_workitem_id_x();
  f32x4 acc = {};
  for (int k = 0; k < steps; ++k)
    acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a[64 * k + lane], b[64 * k + lane], acc, 0, 0, 0);
  d[lane] = acc;
}

GLOBAL void fp8_32x32x16(const long *a, const long *b, f32x16 *d) {
  int lane = __builtin_amdgcn_workitem_id_x();
  f32x16 acc = d[lane];
  acc = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a[lane], b[lane], acc, 0, 0, 0);
  acc = __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8(a[lane + 64], b[lane], acc, 0, 0, 0);
  d[lane] = acc;
}

GLOBAL void bf16_batched(const bf16x4 *a, const bf16x4 *b, f32x4 *d) {
  int lane = __builtin_amdgcn_workitem_id_x();
  f32x4 acc = {1.0f, 1.0f, 1.0f, 1.0f};
  acc = __builtin_amdgcn_mfma_f32_4x4x4bf16_1k(a[lane], b[lane], acc, 4, 1, 0);
  d[lane] = __builtin_amdgcn_mfma_f32_4x4x4bf16_1k(a[lane], b[lane], acc, 0, 0, 3);
}

GLOBAL void f64_16x16x4(const double *a, const double *b, double *d) {
  typedef double f64x4 __attribute__((ext_vector_type(4)));
  int lane = __builtin_amdgcn_workitem_id_x();
  f64x4 acc = {};
  acc = __builtin_amdgcn_mfma_f64_16x16x4f64(a[lane], b[lane], acc, 0, 0, 0);
  for (int i = 0; i < 4; ++i) d[64 * i + lane] = acc[i];
}

GLOBAL void sparse_f16(const f16x4 *a, const f16x4 *b, f32x4 *d, const int *index) {
  typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
  int lane = __builtin_amdgcn_workitem_id_x();
  f16x8 wide = __builtin_shufflevector(b[2 * lane], b[2 * lane + 1], 0, 1, 2, 3, 4, 5, 6, 7);
  d[lane] = __builtin_amdgcn_smfmac_f32_16x16x32_f16(a[lane], wide, d[lane], index[lane], 1, 2);
}

// Accumulators in AGPRs: the constraint forces moves between the register files.
GLOBAL void agpr_moves(const float *a, float *d) {
  int lane = __builtin_amdgcn_workitem_id_x();
  float x = a[lane], y;
  asm volatile("v_accvgpr_write_b32 %0, %1" : "=a"(y) : "v"(x));
  asm volatile("v_accvgpr_mov_b32 %0, %0" : "+a"(y));
  asm volatile("global_store_dword %0, %1, off" ::"v"(d + lane), "a"(y));
}
