// 16x16 tiles of 16-bit numbers with sums in f32, for one wave, by the matrix instruction of the architecture.
//
// Everywhere lane % 16 is a row of A, a column of B and the column of the sums; lanes 16 apart share K. RDNA3 ISA guide,
// 7.9 "WMMA"; RDNA4 ISA guide, 7.12; CDNA3 and CDNA4 ISA guides, 7.1 "Matrix fused-multiply-add".
#pragma once
#include "problem.h"

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef short codes4 __attribute__((ext_vector_type(4)));
typedef short codes16 __attribute__((ext_vector_type(16)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

// STEP: elements of K that an instruction multiplies; ROWS: sums that a lane holds.
#if defined(__GFX12__)
#define LANES 32
#define STEP 16
#define ROWS 8
typedef codes8 fragment;
typedef f32x8 sums;
__device__ inline unsigned row_of(unsigned r, unsigned lane) { return r + lane / 16 * 8; }
__device__ inline sums multiply(F16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(__builtin_bit_cast(f16x8, a), __builtin_bit_cast(f16x8, b), c);
}
__device__ inline sums multiply(BF16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c);
}
#elif defined(__GFX11__)
#define LANES 32
#define STEP 16
#define ROWS 8
typedef codes16 fragment;  // lanes l and l + 16 hold the same
typedef f32x8 sums;
__device__ inline unsigned row_of(unsigned r, unsigned lane) { return 2 * r + lane / 16; }
__device__ inline sums multiply(F16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(f16x16, a), __builtin_bit_cast(f16x16, b), c);
}
__device__ inline sums multiply(BF16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c);
}
#else
#define LANES 64
#define ROWS 4
typedef f32x4 sums;
__device__ inline unsigned row_of(unsigned r, unsigned lane) { return r + lane / 16 * 4; }
#if defined(__gfx950__)
#define STEP 32
typedef codes8 fragment;
__device__ inline sums multiply(F16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(__builtin_bit_cast(f16x8, a), __builtin_bit_cast(f16x8, b), c, 0, 0, 0);
}
__device__ inline sums multiply(BF16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(bf16x8, a), __builtin_bit_cast(bf16x8, b), c, 0, 0, 0);
}
#else
#define STEP 16
typedef codes4 fragment;
__device__ inline sums multiply(F16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(f16x4, a), __builtin_bit_cast(f16x4, b), c, 0, 0, 0);
}
__device__ inline sums multiply(BF16, fragment a, fragment b, sums c) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
}
#endif
#endif

// A lane's part of a line whose elements along K are neighbours.
__device__ inline fragment read_part(const short *line, unsigned lane) {
  constexpr int part = sizeof(fragment) / 2;
#if defined(__GFX11__)
  const codes8 low = *reinterpret_cast<const codes8 *>(line), high = *reinterpret_cast<const codes8 *>(line + part / 2);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  return *reinterpret_cast<const fragment *>(line + lane / 16 * part);
#endif
}

// The largest of the 16 lanes that hold a row of sums, and their sum in pairs 8, 4, 2 and 1 lanes apart; both in all 16.
#define ROTATED(X, N) \
  __builtin_bit_cast(float, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, X), 0x120 + (N), 0xf, 0xf, false))
__device__ inline float largest_of_row(float x) {
  x = __builtin_fmaxf(x, ROTATED(x, 8));
  x = __builtin_fmaxf(x, ROTATED(x, 4));
  x = __builtin_fmaxf(x, ROTATED(x, 2));
  return __builtin_fmaxf(x, ROTATED(x, 1));
}
__device__ inline float sum_of_row(float x) {
  x += ROTATED(x, 8);
  x += ROTATED(x, 4);
  x += ROTATED(x, 2);
  return x + ROTATED(x, 1);
}
