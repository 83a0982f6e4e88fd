// MXFP8 and MXFP4: codes, and an E8M0 scale for 32 columns, to nearest even or stochastically. As the outputs of outputs.h.
#pragma once
#include "lines.h"

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
