// Matrix instructions that every CDNA has: dependent ones, results that are read and overwritten, all numbers of passes.
#define __global__ __attribute__((global))
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef float f32 __attribute__((ext_vector_type(32)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i16 __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef short s2 __attribute__((ext_vector_type(2)));

extern "C" __global__ void chains(const float* a, const h4* h, f4* small, f16* wide, f32* widest) {
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  f4 c4 = small[t];
  f16 c16 = wide[t];
  f32 c32 = widest[t];
  for (int i = 0; i < 8; i++) {
    c4 = __builtin_amdgcn_mfma_f32_4x4x1f32(a[t + i], a[t + 2 * i], c4, 1, 2, 0);
    c4 = __builtin_amdgcn_mfma_f32_16x16x4f32(a[t + i], c4[1], c4, 0, 0, 0);
    c16 = __builtin_amdgcn_mfma_f32_32x32x8f16(h[t], h[t + i], c16, 0, 0, 3);
    c16[3] += c4[2];
    c32 = __builtin_amdgcn_mfma_f32_32x32x1f32(c16[0], a[t], c32, 0, 0, 0);
  }
  small[t] = c4;
  wide[t] = c16;
  widest[t] = c32 * 2.0f;
}

extern "C" __global__ void bytes(const int* a, i4* small, i16* wide) {
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  i4 c4 = __builtin_amdgcn_mfma_i32_4x4x4i8(a[t], a[t + 64], small[t], 0, 0, 0);
  i16 c16 = __builtin_amdgcn_mfma_i32_16x16x4i8(c4[0], a[t], wide[t], 0, 0, 0);
  for (int i = 0; i < 4; i++)
    small[t + 64 * i] = __builtin_amdgcn_mfma_i32_4x4x4i8(c16[i], a[t + i], c4, 0, 0, 0);
  wide[t] = c16;
}

extern "C" __global__ void brains(const s2* a, f4* small, f16* wide) {
  const unsigned t = __builtin_amdgcn_workitem_id_x();
  f4 c4 = __builtin_amdgcn_mfma_f32_16x16x8bf16(a[t], a[t + 64], small[t], 0, 0, 0);
  f16 c16 = __builtin_amdgcn_mfma_f32_32x32x4bf16(a[t], a[t + 1], wide[t], 0, 0, 0);
  small[t] = __builtin_amdgcn_mfma_f32_4x4x2bf16(a[t], a[t + 2], c4, 0, 0, 0);
  wide[t] = c16 + c4[0];
}
