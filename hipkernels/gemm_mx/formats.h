// The MX formats, and the matrix instructions of CDNA4 that multiply them with a scale for 32 elements of K.
#pragma once
#include "../gemm_fp8/gemm.h"

typedef unsigned words2 __attribute__((ext_vector_type(2)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

#define TILE_K 128  // elements of K in a tile

// Bits of an element, its code in the instruction (CDNA4 ISA manual, "Matrix formats"), and bytes of a tile's row.
template <int BITS, int CODE>
struct Format {
  static constexpr int bits = BITS, code = CODE, row = TILE_K * BITS / 8;
};
typedef Format<8, 0> e4m3fn;
typedef Format<8, 1> e5m2;
typedef Format<6, 2> e2m3fn;
typedef Format<6, 3> e3m2fn;
typedef Format<4, 4> e2m1fn;

// 16 rows of A and of B times 128 of K. A lane has row lane % 16 and group lane / 16 of K.
struct Square16 {
  static constexpr int rows = 16, groups = 4;
  typedef f32x4 Sum;
  template <int CODE_A, int CODE_B, int BYTE_A, int BYTE_B>
  static __device__ Sum multiply(i32x8 a, i32x8 b, Sum sum, int scale_a, int scale_b) {
    return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, sum, CODE_A, CODE_B, BYTE_A, scale_a, BYTE_B, scale_b);
  }
  static __device__ void finish(const Gemm &g, int row, int column, Sum sum, unsigned lane) {
    finish_tile(g, row, column, sum, lane);
  }
};
// 32 rows times 64 of K.
struct Square32 {
  static constexpr int rows = 32, groups = 2;
  typedef f32x16 Sum;
  template <int CODE_A, int CODE_B, int BYTE_A, int BYTE_B>
  static __device__ Sum multiply(i32x8 a, i32x8 b, Sum sum, int scale_a, int scale_b) {
    return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a, b, sum, CODE_A, CODE_B, BYTE_A, scale_a, BYTE_B, scale_b);
  }
  // A lane has one column, and four rows of every eight.
  static __device__ void finish(const Gemm &g, int row, int column, Sum sum, unsigned lane) {
    for (int t = 0; t < 16; ++t) ::finish(g, row + t / 4 * 8 + lane / 32 * 4 + t % 4, column + lane % 32, sum[t]);
  }
};
// Instructions that a tile of K takes.
template <typename S>
constexpr int steps = TILE_K / (32 * S::groups);
