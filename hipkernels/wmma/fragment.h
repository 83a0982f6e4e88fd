// 16x16x16 in f16 with sums in f32 as RDNA's WMMA wants it, for one wave of 32 lanes: how A and B stand in the registers,
// where the sums are. RDNA3 ISA guide, 7.9 "WMMA"; RDNA4 ISA guide, 7.12.
#pragma once
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

typedef _Float16 f16;
typedef f16 f16x8 __attribute__((ext_vector_type(8)));
typedef f16 f16x16 __attribute__((ext_vector_type(16)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

// `read_line` reads 16 of K from the LDS, where element k of the lane's line lies at(k); if WIDE, eight in a row lie together.
#if defined(__GFX12__)
// Lanes l and l + 16 share a row of A or a column of B: eight of K in the lower lane, the other eight in the upper one.
typedef f16x8 fragment;
template <bool WIDE, class At>
__device__ fragment read_line(const f16 *lds, At at, unsigned lane) {
  if constexpr (WIDE) return *reinterpret_cast<const f16x8 *>(lds + at(lane / 16 * 8));
  fragment line;
  for (int e = 0; e < 8; ++e) line[e] = lds[at(lane / 16 * 8 + e)];
  return line;
}
__device__ inline f32x8 multiply(fragment a, fragment b, f32x8 sum) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, sum);
}
__device__ inline unsigned row_of(unsigned r, unsigned lane) { return r + lane / 16 * 8; }
#else
// Lanes l and l + 16 both hold all of a row of A or of a column of B.
typedef f16x16 fragment;
template <bool WIDE, class At>
__device__ fragment read_line(const f16 *lds, At at, unsigned lane) {
  if constexpr (!WIDE) {
    fragment line;
    for (int e = 0; e < 16; ++e) line[e] = lds[at(e)];
    return line;
  }
  const f16x8 low = *reinterpret_cast<const f16x8 *>(lds + at(0));
  const f16x8 high = *reinterpret_cast<const f16x8 *>(lds + at(8));
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
__device__ inline f32x8 multiply(fragment a, fragment b, f32x8 sum) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, sum);
}
__device__ inline unsigned row_of(unsigned r, unsigned lane) { return 2 * r + lane / 16; }
#endif
__device__ inline unsigned column_of(unsigned lane) { return lane % 16; }
