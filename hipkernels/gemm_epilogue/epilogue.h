// Epilogues of the ping-pong: what becomes of the sums of a GEMM, and the form in which they leave.
//
//   D = out(f(alpha A B^T + beta C + bias))
//
// f is the identity, GELU, or SiLU of gates times values (values.h); out is bf16, f16 or f32, FP8 with one scale for the tensor
// (outputs.h), or MXFP8 and MXFP4 with an E8M0 scale for 32 columns, to nearest even or stochastically (blocks.h). Codes are
// row-major, and scales in hipBLASLt's and AITER's order of 32 rows and 8 blocks: the next GEMM reads both as its A.
#pragma once
#include "blocks.h"
#include "outputs.h"
#include "values.h"

// --- The operands

// FP8 with the operands exchanged: the instruction's rows are those of B.
template <typename S>
struct Turned : Plain<S> {
  using Plain<S>::Plain;
  template <int ROWS, int COLUMNS, typename A, typename B>
  static MOVES void product(f32x4 (&c)[ROWS][COLUMNS], const A &a, const B &b, int n) {
    f32x4 &sum = c[n / COLUMNS][n % COLUMNS];
    sum = multiply(sum, b.of[n % COLUMNS], a.of[n / COLUMNS]);
  }
};

// B has twice the columns of D: gates, and then as many values. The second half of a tile of B are the values of the first
// half's gates, so that a lane has both, and a workgroup HALF columns of D.
template <typename Base>
struct Gated : Base {
  static constexpr int COLUMNS = HALF;
  int values;  // first row of B that belongs to them, from the workgroup's first gate on
  MOVES Gated(const typename Base::Problem &g, int row, int column, Tiles &a_tiles, Tiles &b_tiles, char *scales, unsigned wave,
              unsigned lane, unsigned a_row, unsigned b_row)
      : Base(g, row, column, a_tiles, b_tiles, scales, wave, lane, a_row, b_row), values(g.N / 2) {
    this->b.matrix = rows_of(g.B, column, g.N - column, this->b.ld, Base::bytes_of(g));
    this->move_scales(values - HALF);
  }
  MOVES Into into_b(unsigned slot, unsigned half, int k) const {
    Into into = Base::into_b(slot, half, k);
    if (half) into.first = values;
    return into;
  }
};

// --- An epilogue: values, and where they go. M and N are the rows and columns of D.
template <typename V, typename O>
struct Epilogue {
  V values;
  O out;
  int M, N;

  MOVES void finish(int row, int column, Quadrant &c00, Quadrant &c01, Quadrant &c10, Quadrant &c11, unsigned lane) const {
    const Bias bias(values.bias, V::gated ? 2 * N : N, column, V::gated ? N : HALF, lane);
    typename O::Wave wave(out, row, column, M, N, lane);
    lines(0, row, column, c00, c01, bias, wave, lane);
    lines(1, row, column, c10, c11, bias, wave, lane);
    wave.end();
  }
  // Rows of one half of the tile.
  MOVES void lines(int h, int row, int column, Quadrant &left, Quadrant &right, const Bias &bias, typename O::Wave &wave,
                   unsigned lane) const {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i) {
      const int line = h * HALF + 16 * i + lane % 16;
      Line x, y;
#pragma unroll
      for (int t = 0; t < B_TILES; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          x[t][e] = __builtin_fmaf(values.alpha, left[i][t][e], bias.of[0][t][e]);
          y[t][e] = __builtin_fmaf(values.alpha, right[i][t][e], bias.of[1][t][e]);
        }
      if constexpr (V::gated) {
#pragma unroll
        for (int t = 0; t < B_TILES; ++t)
#pragma unroll
          for (int e = 0; e < 4; ++e) x[t][e] = silu(x[t][e]) * y[t][e];
        wave.line(h, i, GATED, line, column, x);
      } else {
        if (values.beta != 0.0f) {
          with_c(values, x, row, line, column, lane);
          with_c(values, y, row, line, column + HALF, lane);
        }
#pragma unroll
        for (int t = 0; t < B_TILES; ++t)
#pragma unroll
          for (int e = 0; e < 4; ++e) x[t][e] = V::Function::of(x[t][e]), y[t][e] = V::Function::of(y[t][e]);
        wave.line(h, i, 0, line, column, x);
        wave.line(h, i, 1, line, column + HALF, y);
      }
    }
  }
  static constexpr int GATED = 2;  // of a pair of halves that is one

  template <typename T, typename F>
  MOVES void with_c(const Linear<T, F> &linear, Line &x, int row, int line, int column, unsigned lane) const {
    const Rows<T> c(linear.C, row, M, N, linear.ldc);
#pragma unroll
    for (int t = 0; t < B_TILES; ++t) {
      const unsigned place = c.at(line, column + 16 * t + lane / 16 * 4);
      Four<T> held;
      if constexpr (sizeof(T) == 2)
        held = __builtin_bit_cast(Four<T>, __builtin_amdgcn_raw_buffer_load_b64(c.of, place, 0, 0));
      else
        held = __builtin_bit_cast(Four<T>, __builtin_amdgcn_raw_buffer_load_b128(c.of, place, 0, 0));
      const f32x4 wide = __builtin_convertvector(held, f32x4);
#pragma unroll
      for (int e = 0; e < 4; ++e) x[t][e] = __builtin_fmaf(linear.beta, wide[e], x[t][e]);
    }
  }
};

// --- Kernels: B is [N, K] in all of them; of gated ones N are gates and values, of which D has half as many columns.
#if defined(MXFP4)
typedef Mx<Row, false> Operands;
#define OPERANDS const fp8 *A, const fp8 *B, const fp8 *SA, const fp8 *SB
#define PROBLEM {{A, B, nullptr, M, N, K, lda, ldb, 0, 1, 0}, SA, SB}
#else
typedef Turned<Row> Operands;
#define OPERANDS const fp8 *A, const fp8 *B
#define PROBLEM {A, B, nullptr, M, N, K, lda, ldb, 0, 1, 0}
#endif
template <typename V, bool GATED = V::gated>
struct Way {
  typedef Operands type;
};
template <typename V>
struct Way<V, true> {
  typedef Gated<Operands> type;
};
template <typename V, typename O>
__device__ __attribute__((always_inline)) void run(const Operands::Problem &g, const V &values, const O &out) {
  pingpong<typename Way<V>::type, Right>(g, Epilogue<V, O>{values, out, g.M, V::gated ? g.N / 2 : g.N});
}

#define KERNEL(NAME) extern "C" __global__ void __launch_bounds__(64 * WAVES) NAME
#define SIZES int M, int N, int K, int lda, int ldb, int ldc, int ldd, float alpha, float beta
#define TO_NUMBERS(NAME, T)                                                     \
  KERNEL(NAME)(OPERANDS, const T *C, const float *bias, T *D, SIZES) {           \
    run(PROBLEM, Linear<T>{C, bias, ldc, alpha, beta}, Numbers<T>{D, ldd});      \
  }
#define TO_FP8(NAME, ...)                                                                                              \
  KERNEL(NAME)(OPERANDS, const __bf16 *C, const float *bias, fp8 *D, int *amax, int *row_amax, SIZES, float scale) {    \
    run(PROBLEM, __VA_ARGS__{C, bias, ldc, alpha, beta}, Fp8{D, ldd, scale, amax, row_amax});                          \
  }
#define TO_BLOCKS(NAME, TO, ROUNDING, ...)                                                                                 \
  KERNEL(NAME)(OPERANDS, const __bf16 *C, const float *bias, fp8 *D, fp8 *scales, SIZES, int rule, unsigned seed) {         \
    casts::enter_scaled();                                                                                                 \
    run(PROBLEM, __VA_ARGS__{C, bias, ldc, alpha, beta}, Blocks<TO, ROUNDING, __VA_ARGS__::gated>{D, scales, ldd, rule, seed}); \
  }
