// Epilogues of the ping-pong: what becomes of the sums of a GEMM, and the form in which they leave.
//
//   D = out(f(alpha A B^T + beta C + bias))
//
// f is the identity, GELU, or SiLU of gates times values; out is bf16, f16 or f32, FP8 with one scale for the tensor, or MXFP8
// and MXFP4 with an E8M0 scale for 32 columns, to nearest even or stochastically. Codes are row-major, and scales in hipBLASLt's
// and AITER's order of 32 rows and 8 blocks: the next GEMM reads both as its A.
//
// The main loop is pingpong.h's, with the operands exchanged: of a tile of 16x16 a lane has one row and four columns next to
// each other, 4 (lane / 16) onwards. On gfx950 a wave has two tiles side by side in a quadrant, 32 columns, which are a block: it
// lies in four lanes, 16 apart. Their largest magnitude, and stores of eight columns a lane, take an exchange of rows of lanes each.
#pragma once
#include "../gemm_fp8/scheduled/pingpong.h"
#include <mfmasim/casts.h>
#include <mfmasim/fp8.h>
#include <mfmasim/small_floats.h>
#include <stdint.h>

// Rules of scales and conversions of the casts, whose names of formats are not those of the GEMMs.
namespace casts {
#include "../cast/mx.h"
}
using casts::e2m1;
using casts::e4m3;

#pragma clang fp contract(off)  // where a product and a sum are one operation the kernel says so

#if !defined(MXFP4)
typedef unsigned words2 __attribute__((ext_vector_type(2)));
#define BEYOND 0x80000000u  // no resource is as large: loads give 0, stores are dropped
#endif
typedef f32x4 Quadrant[A_TILES][B_TILES];
typedef f32x4 Line[B_TILES];  // a lane's columns of one row: four of each tile

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

// --- Exchange between lanes

// Rows of 16 lanes: the odd ones of x change places with the even ones of y.
MOVES void swap_rows(unsigned &x, unsigned &y) {
#if defined(__gfx950__)
  const auto both = __builtin_amdgcn_permlane16_swap(x, y, false, false);
  const unsigned first = both[0], second = both[1];
  x = first;
  y = second;
#endif
}
// The largest of the four lanes that have columns of one row.
MOVES unsigned of_row(unsigned x) {
#if defined(__gfx950__)
  unsigned y = x;
  swap_rows(x, y);
  x = max(x, y);
  const auto halves = __builtin_amdgcn_permlane32_swap(x, x, false, false);
  const unsigned lower = halves[0], upper = halves[1];
  return max(lower, upper);
#else
  x = max(x, (unsigned)__builtin_amdgcn_ds_bpermute((threadIdx.x % 64 ^ 16) * 4, (int)x));
  return max(x, (unsigned)__builtin_amdgcn_ds_bpermute((threadIdx.x % 64 ^ 32) * 4, (int)x));
#endif
}
// The largest of 16 lanes: within pairs, quads, halves, and all.
MOVES unsigned of_lanes(unsigned x) {
#define EXCHANGE(control) x = max(x, (unsigned)__builtin_amdgcn_update_dpp(0, (int)x, control, 15, 15, true))
  EXCHANGE(0xb1);   // quad_perm:[1,0,3,2]
  EXCHANGE(0x4e);   // quad_perm:[2,3,0,1]
  EXCHANGE(0x141);  // row_half_mirror
  EXCHANGE(0x140);  // row_mirror
#undef EXCHANGE
  return x;
}
MOVES unsigned largest(const Line &x) {
  unsigned most = 0;
#pragma unroll
  for (int t = 0; t < B_TILES; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e) most = max(most, (unsigned)casts::magnitude(x[t][e]));
  return most;
}

// Rows of a matrix from the wave's first one on; what lies below the last one is beyond the resource.
template <typename T>
struct Rows {
  __amdgpu_buffer_rsrc_t of;
  int ld, columns;
  MOVES Rows(const T *matrix, int row, int M, int columns, int ld)
      : of(__builtin_amdgcn_make_buffer_rsrc((void *)(matrix + (size_t)row * ld), 0, max(M - row, 0) * ld * (int)sizeof(T), 0x27000)),
        ld(ld), columns(columns) {}
  MOVES unsigned at(int line, int column) const {
    return column < columns ? (line * ld + column) * (int)sizeof(T) : BEYOND;
  }
};
template <typename T>
using Four = T __attribute__((ext_vector_type(4)));

// --- Values

#define LOG2_E 1.44269504088896340736f
#define GELU_S (-2.0f * LOG2_E * 0.79788456080286535588f)
struct Identity {
  static MOVES float of(float x) { return x; }
};
// By tanh: x / (1 + 2^(x (s + t x^2))).
struct Gelu {
  static MOVES float of(float x) {
    return x / (1.0f + __builtin_amdgcn_exp2f(x * __builtin_fmaf(x * x, GELU_S * 0.044715f, GELU_S)));
  }
};
MOVES float silu(float x) { return x / (1.0f + __builtin_amdgcn_exp2f(x * -LOG2_E)); }

// F of fma(beta, C, fma(alpha, sum, bias)), each rounded to f32; C is not read if beta is 0. Bias is f32, one for each column.
template <typename T, typename F = Identity>
struct Linear {
  static constexpr bool gated = false;
  typedef F Function;
  const T *C;
  const float *bias;
  int ldc;
  float alpha, beta;
};
// silu(gate) value; columns of B that lie D's columns apart, each with its own bias, and no C.
template <typename T>
struct Silu : Linear<T> {
  static constexpr bool gated = true;
};

// The bias of a lane's columns: of both halves of the tile, of every tile of 16.
struct Bias {
  f32x4 of[2][B_TILES];
  MOVES Bias(const float *bias, int N, int first, int apart, unsigned lane) {
    const auto all = __builtin_amdgcn_make_buffer_rsrc((void *)bias, 0, N * 4, 0x27000);
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int t = 0; t < B_TILES; ++t)
        of[j][t] = __builtin_bit_cast(
            f32x4, __builtin_amdgcn_raw_buffer_load_b128(all, (first + j * apart + 16 * t + lane / 16 * 4) * 4, 0, 0));
  }
};

// --- Outputs; each has the lines of a wave in turn. N is the number of columns of D.

// A lane's columns of one row, from `column` on, where its two tiles were given for eight columns of one of them.
MOVES int eight(int column, unsigned lane) { return column + lane / 16 % 2 * 16 + lane / 32 * 8; }

template <typename T>
struct Numbers {
  T *D;
  int ldd;
  struct Wave : Rows<T> {
    unsigned lane;
    MOVES Wave(const Numbers &to, int row, int, int M, int N, unsigned lane) : Rows<T>(to.D, row, M, N, to.ldd), lane(lane) {}
    MOVES void line(int, int, int, int line, int column, const Line &x) {
      if constexpr (B_TILES == 2 && sizeof(T) == 2) {
        words2 low = __builtin_bit_cast(words2, __builtin_convertvector(x[0], Four<T>));
        words2 high = __builtin_bit_cast(words2, __builtin_convertvector(x[B_TILES - 1], Four<T>));
        unsigned a = low.x, b = low.y, c = high.x, d = high.y;
        swap_rows(a, c);
        swap_rows(b, d);
        __builtin_amdgcn_raw_buffer_store_b128(words4{a, b, c, d}, this->of, this->at(line, eight(column, lane)), 0, 0);
      } else {
#pragma unroll
        for (int t = 0; t < B_TILES; ++t) {
          const unsigned place = this->at(line, column + 16 * t + lane / 16 * 4);
          const Four<T> four = __builtin_convertvector(x[t], Four<T>);
          if constexpr (sizeof(T) == 2)
            __builtin_amdgcn_raw_buffer_store_b64(__builtin_bit_cast(words2, four), this->of, place, 0, 0);
          else
            __builtin_amdgcn_raw_buffer_store_b128(__builtin_bit_cast(words4, four), this->of, place, 0, 0);
        }
      }
    }
    MOVES void end() {}
  };
};

// FP8 of x * scale, clamped. The largest magnitudes of x, of the tensor and of each row, are the largest also of what is there
// before: integers, in whose order infinity is above every number, and NaN above infinity.
struct Fp8 {
  fp8 *D;
  int ldd;
  float scale;
  int *amax, *row_amax;
  struct Wave : Rows<fp8> {
    const Fp8 &to;
    unsigned lane, all = 0, row_most = 0;
    int row, M;
    MOVES Wave(const Fp8 &to, int row, int, int M, int N, unsigned lane)
        : Rows<fp8>(to.D, row, M, N, to.ldd), to(to), lane(lane), row(row), M(M) {}
    MOVES void line(int, int, int j, int line, int column, const Line &x) {
      const unsigned most = largest(x);
      row_most = j == 1 ? max(row_most, most) : most;
      if (j != 0) {  // the last of the row
        row_most = of_row(row_most);
        all = max(all, row_most);
        if (lane < 16 && row + line < M) atomicMax(to.row_amax + row + line, (int)row_most);
      }
      unsigned words[B_TILES];
#pragma unroll
      for (int t = 0; t < B_TILES; ++t) {
        const f32x4 scaled = x[t] * to.scale;
        const float four[] = {scaled.x, scaled.y, scaled.z, scaled.w};
        words[t] = casts::pack_four<e4m3, casts::clamp>(four);
      }
      if constexpr (B_TILES == 2) {
        swap_rows(words[0], words[B_TILES - 1]);
        __builtin_amdgcn_raw_buffer_store_b64(words2{words[0], words[B_TILES - 1]}, of, at(line, eight(column, lane)), 0, 0);
      } else {
        __builtin_amdgcn_raw_buffer_store_b32(words[0], of, at(line, column + lane / 16 * 4), 0, 0);
      }
    }
    MOVES void end() {
      all = of_lanes(all);
      if (lane == 0) atomicMax(to.amax, (int)all);
    }
  };
};

#if defined(__gfx950__)
// A random word for each number of an element: a permutation of 32 bits (C. Wellons, "lowbias32"), so that no two of one seed
// are alike.
MOVES unsigned random_word(unsigned seed, unsigned number) {
  unsigned x = number ^ seed;
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

struct Nearest {
  template <casts::target To>
  static MOVES void pack(unsigned (&words)[2], const Line &x, int code, unsigned, unsigned) {
    const float all[] = {x[0].x, x[0].y, x[0].z, x[0].w, x[1].x, x[1].y, x[1].z, x[1].w};
    words[0] = casts::pack_scaled<To>(all, code);
    if constexpr (To == e4m3) words[1] = casts::pack_scaled<To>(all + 4, code);
  }
};
// The number of an element of D counts along the rows; two of FP4 share the word of their pair.
struct Stochastic {
  static MOVES unsigned pair(float x, float y, unsigned word, float scale) {
    return __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_f32(0, casts::vector<float, 2>{x, y}, word, scale, 0) & 0xff;
  }
  template <casts::target To>
  static MOVES void pack(unsigned (&words)[2], const Line &x, int code, unsigned seed, unsigned number) {
    const float scale = casts::power(code);
    words[0] = words[1] = 0;
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const unsigned first = number + 16 * t;
      if constexpr (To == e4m3) {
#define ONE(n) words[t] = __builtin_amdgcn_cvt_scalef32_sr_fp8_f32(words[t], x[t][n], random_word(seed, first + n), scale, n)
        ONE(0), ONE(1), ONE(2), ONE(3);
#undef ONE
      } else {
        // Each pair in the lowest byte: LLVM 22 does not tie the register whose other bytes the instruction keeps.
        const unsigned bytes[] = {pair(x[t].x, x[t].y, random_word(seed, first / 2), scale),
                                  pair(x[t].z, x[t].w, random_word(seed, first / 2 + 1), scale)};
        words[0] |= (bytes[0] | bytes[1] << 8) << 16 * t;
      }
    }
  }
};

// Codes, and a scale for 32 columns of a row. Scales of rows r and r + 16, and of blocks b and b + 4, are the four bytes of a
// dword; a wave has all of them, or, of gated columns, those of one block.
template <casts::target To, typename Rounding, bool Half>
struct Blocks {
  static_assert(A_TILES == 4 && B_TILES == 2);
  fp8 *D, *scales;
  int ldd, rule;  // elements from one row of D to the next; casts::rule
  unsigned seed;
  struct Wave : Rows<fp8> {
    const Blocks &to;
    unsigned lane, words[2][2] = {};
    int row, column, M, N;
    static constexpr int each = To == e2m1 ? 2 : 1;  // elements of a byte
    MOVES Wave(const Blocks &to, int row, int column, int M, int N, unsigned lane)
        : Rows<fp8>(to.D, row, M, N / each, to.ldd / each), to(to), lane(lane), row(row), column(column), M(M), N(N) {}
    MOVES void line(int h, int i, int j, int line, int column, const Line &x) {
      const int code = casts::scale_of<To>(of_row(largest(x)), to.rule);
      const unsigned number = (unsigned)(row + line) * N + column + lane / 16 * 4;
      unsigned codes[2];
      Rounding::template pack<To>(codes, x, code, to.seed, number);
      if constexpr (To == e2m1) {
        codes[1] = codes[0];
        swap_rows(codes[0], codes[1]);
        const unsigned four = __builtin_amdgcn_perm(codes[1], codes[0], lane / 16 % 2 ? 0x07060302u : 0x05040100u);
        __builtin_amdgcn_raw_buffer_store_b32(four, this->of, this->at(line, eight(column, lane) / 2), 0, 0);
      } else {
        swap_rows(codes[0], codes[1]);
        __builtin_amdgcn_raw_buffer_store_b64(words2{codes[0], codes[1]}, this->of, this->at(line, eight(column, lane)), 0, 0);
      }
      // What fills up the scales of the last rows and columns is 0.
      const bool there = row + line < M && column < N;
      words[h][i / 2] |= (there ? (unsigned)code : 0) << ((j == 1 ? 16 : 0) + i % 2 * 8);
    }
    // A row of lanes stores the scales of 32 rows.
    MOVES void end() {
      const int across = (N + 255) / 256, block = column / 32;
      const auto all = __builtin_amdgcn_make_buffer_rsrc(to.scales, 0, (M + 31) / 32 * across * 256, 0x27000);
      const unsigned part = lane / 16, upper = lane / 32;
      const int rows = row / 32 + upper * (HALF / 32) + part % 2;
      const unsigned at = (rows * across + block / 8) * 256 + block % 4 * 64 + lane % 16 * 4;
      const unsigned low = upper ? words[1][0] : words[0][0], high = upper ? words[1][1] : words[0][1];
      const unsigned word = part % 2 ? high : low;
      if constexpr (Half)
        __builtin_amdgcn_raw_buffer_store_b16((unsigned short)word, all, at + block / 4 % 2 * 2, 0, 0);
      else
        __builtin_amdgcn_raw_buffer_store_b32(word, all, at, 0, 0);
    }
  };
};
#endif

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
