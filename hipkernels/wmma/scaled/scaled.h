// gemm: C_out = alpha A B + beta C_in, over the products of ../product.h.
//
// With beta = 0 C_in is not read and may be null; with alpha = 0 A and B are not, and C_out is beta C_in, as the BLAS have
// it, so that a NaN that is not read does not matter. Any other NaN goes its way. The result is fma(alpha, sum, beta C_in),
// each step rounded to nearest even in f32, or alpha times the sum, or beta times C_in.
//
// C_in and C_out may be the same matrix with the same stride: the thread that writes an element is the only one that reads
// it, and it reads it first. No pointer is declared not to alias.
#pragma once
#include "../product.h"

struct Scaled : Gemm {
  const float *C_in;
  int ld_in;
  float alpha, beta;
};

__device__ inline float scaled(const Scaled &g, float sum, size_t place) {
  if (g.beta == 0.0f) return g.alpha == 0.0f ? 0.0f : g.alpha * sum;
  const float old = g.beta * g.C_in[place];
  return g.alpha == 0.0f ? old : __builtin_fmaf(g.alpha, sum, old);
}

template <class Block, class Place>
__device__ void finish(const Scaled &g, const Part<Block, Place> &part, int row, int column) {
#pragma unroll
  for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j)
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        const int y = row + part.m + 16 * i + row_of(r, part.lane), x = column + part.n + 16 * j + column_of(part.lane);
        if (y < g.M && x < g.N)
          g.C[(size_t)y * g.ldc + x] = scaled(g, part.sum[i][j][r], (size_t)y * g.ld_in + x);
      }
}

template <class Block, class Place, class Load>
__device__ void gemm(const Scaled &g) {
  if (g.alpha != 0.0f) return ahead<Block, Place, Load>(g);
  const auto [row, column] = corner_of<Block>(g);
  finish(g, Part<Block, Place>{}, row, column);  // sums of nothing
}

#define SCALED(NAME, THREADS, ...)                                                                             \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                        \
      NAME(const f16 *A, const f16 *B, const float *C_in, float *C_out, int M, int N, int K, int lda, int ldb, \
           int ld_in, int ldc, float alpha, float beta) {                                                      \
    const Scaled g{{A, B, C_out, M, N, K, lda, ldb, ldc}, C_in, ld_in, alpha, beta};                           \
    gemm<__VA_ARGS__>(g);                                                                                      \
  }
