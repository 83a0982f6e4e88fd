// What is computed of a sum: f(alpha sum + beta C + bias), and SiLU of gates times values.
#pragma once
#include "lines.h"

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
