// One wave multiplies 16x16 f16 by 16x16 f16 that lies row after row: a transposed read gives each lane a column of it,
// which is what operand B wants. CDNA4 reads the LDS so, RDNA4 global memory.
#include <hip/hip_runtime.h>

#if defined(__gfx950__)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef __attribute__((address_space(3))) i16x4 lds_i16x4;

extern "C" __global__ __launch_bounds__(64) void transposed_b(const _Float16* A, const _Float16* B, float* C) {
  __shared__ __attribute__((aligned(16))) _Float16 tile[16 * 16];
  const unsigned lane = threadIdx.x, line = lane % 16, group = lane / 16;
  *reinterpret_cast<f16x4*>(tile + 4 * lane) = *reinterpret_cast<const f16x4*>(B + 4 * lane);
  __syncthreads();
  const f16x4 a = *reinterpret_cast<const f16x4*>(A + 16 * line + 4 * group);
  // Sixteen lanes read four rows of sixteen elements, four elements a lane; lane t receives column t of the four rows.
  const unsigned row = 4 * group + line / 4, column = line % 4 * 4;
  const i16x4 read = __builtin_amdgcn_ds_read_tr16_b64_v4i16((lds_i16x4*)(tile + 16 * row + column));
  const f16x4 b = __builtin_bit_cast(f16x4, read);
  const f32x4 sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, f32x4{}, 0, 0, 0);
  for (unsigned r = 0; r < 4; ++r) C[16 * (4 * group + r) + line] = sum[r];
}
#elif defined(__GFX12__)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef short i16x8 __attribute__((ext_vector_type(8)));
typedef __attribute__((address_space(1))) i16x8 global_i16x8;

extern "C" __global__ __launch_bounds__(32) void transposed_b(const _Float16* A, const _Float16* B, float* C) {
  const unsigned lane = threadIdx.x, line = lane % 16, half = lane / 16;
  const f16x8 a = *reinterpret_cast<const f16x8*>(A + 16 * line + 8 * half);
  // Eight lanes read eight rows of eight elements; the i-th of them receives the i-th column.
  const unsigned row = 8 * half + lane % 8, column = line / 8 * 8;
  const i16x8 read = __builtin_amdgcn_global_load_tr_b128_v8i16((global_i16x8*)(B + 16 * row + column));
  const f16x8 b = __builtin_bit_cast(f16x8, read);
  const f32x8 sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, f32x8{});
  for (unsigned r = 0; r < 8; ++r) C[16 * (8 * half + r) + line] = sum[r];
}
#endif
