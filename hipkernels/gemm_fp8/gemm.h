// What the GEMM kernels share: C = alpha A B^T + beta C with A [M,K] and B [N,K] in FP8, C [M,N] in BF16, sums in f32.
//
// All matrices are row-major; lda, ldb, ldc are the elements from one row to the next. FP8 is E4M3: FNUZ on gfx942, OCP
// on gfx950. With beta = 0 C is not read, so that a NaN there does not matter. The result is rounded twice: to f32 by
// fma(alpha, sum, beta * C), or by alpha * sum without C, and to BF16, to nearest even both times.
#pragma once
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

typedef unsigned char fp8;
typedef unsigned short bf16;
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef unsigned words4 __attribute__((ext_vector_type(4)));

struct Gemm {
  const fp8 *A, *B;
  bf16 *C;
  int M, N, K, lda, ldb, ldc;
  float alpha, beta;
};

// A kernel whose body sees the problem as `g`.
#define GEMM(NAME, THREADS, BODY)                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                          \
      NAME(const fp8 *A, const fp8 *B, bf16 *C, int M, int N, int K, int lda, int ldb, int ldc, float alpha,     \
           float beta) {                                                                                         \
    const Gemm g = {A, B, C, M, N, K, lda, ldb, ldc, alpha, beta};                                               \
    BODY;                                                                                                        \
  }

__device__ inline float from_bf16(bf16 code) { return __builtin_bit_cast(float, (unsigned)code << 16); }
__device__ inline bf16 to_bf16(float value) { return __builtin_bit_cast(bf16, (__bf16)value); }

// One element of C from its sum.
__device__ inline void finish(const Gemm &g, int row, int column, float sum) {
  bf16 *place = g.C + (size_t)row * g.ldc + column;
  const float value = g.beta == 0.0f ? g.alpha * sum : __builtin_fmaf(g.alpha, sum, g.beta * from_bf16(*place));
  *place = to_bf16(value);
}

// A 16x16 tile of C as the matrix instructions leave it: a lane has one column and four rows.
__device__ inline void finish_tile(const Gemm &g, int row, int column, f32x4 sum, unsigned lane) {
  for (int t = 0; t < 4; ++t) finish(g, row + 4 * (lane / 16) + t, column + lane % 16, sum[t]);
}

// Whether C is read is asked once, and not for every element: `STORE` uses the problem `p`.
#define FINISH(g, p, STORE)       \
  if (g.beta == 0.0f) {           \
    auto p = g;                   \
    p.beta = 0.0f;                \
    STORE;                        \
  } else {                        \
    const auto &p = g;            \
    STORE;                        \
  }
