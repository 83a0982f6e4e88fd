// Results without scales of blocks: bf16, f16, f32, and FP8 with one scale and the largest magnitudes.
//
// An output has the lines of a wave in turn. N is the number of columns of D.
#pragma once
#include "lines.h"

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
