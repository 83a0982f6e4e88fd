// Tiles of bf16 with 16 of K, sums in f32, by the matrix instruction of the architecture: SIDE x SIDE is 32x32 on CDNA
// (two instructions 32x32x8 on CDNA3, one 32x32x16 on CDNA4) and 16x16 on RDNA4.
//
// Everywhere lane % SIDE is a row of A, a column of B and the column of the sums, and `half`, lane / SIDE, has eight of
// the 16 of K. CDNA3 and CDNA4 ISA guides, 7.1 "Matrix fused-multiply-add"; RDNA4 ISA guide, 7.12.
#pragma once
#include "../attention/problem.h"

#define LOG2_E 1.4426950408889634f
#define MOVES __device__ __attribute__((always_inline)) inline

typedef short codes4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));

// row_of: the row of the sums that register r of a lane holds.
#if defined(__GFX12__)
#define LANES 32
#define SIDE 16
typedef float sums __attribute__((ext_vector_type(8)));
MOVES unsigned row_of(unsigned r, unsigned half) { return r + 8 * half; }
MOVES sums multiply(codes8 a, codes8 b, sums c) { return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c); }
#else
#define LANES 64
#define SIDE 32
typedef float sums __attribute__((ext_vector_type(16)));
MOVES unsigned row_of(unsigned r, unsigned half) { return r % 4 + r / 4 * 8 + 4 * half; }
MOVES sums multiply(codes8 a, codes8 b, sums c) {
#if defined(__gfx950__)
  typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
  return __builtin_amdgcn_mfma_f32_32x32x16_bf16(__builtin_bit_cast(bf16x8, a), __builtin_bit_cast(bf16x8, b), c, 0, 0, 0);
#else
  c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a.lo, b.lo, c, 0, 0, 0);
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a.hi, b.hi, c, 0, 0, 0);
#endif
}
#endif
#define ROWS (SIDE * SIDE / LANES)

// Two numbers to bf16, to nearest even. Without CDNA4's instruction NaN is not looked at: it stays NaN unless all bits of
// its payload are ones, which no operation of these kernels makes.
MOVES unsigned codes_of(float low, float high) {
#if defined(__gfx950__)
  typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(unsigned, bf16x2{(__bf16)low, (__bf16)high});
#else
  unsigned a = __builtin_bit_cast(unsigned, low), b = __builtin_bit_cast(unsigned, high);
  a += 0x7fff + (a >> 16 & 1);
  b += 0x7fff + (b >> 16 & 1);
  return __builtin_amdgcn_perm(b, a, 0x07060302);
#endif
}
