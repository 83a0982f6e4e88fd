// Cast and transpose in one pass: tiles of 32 * Store rows and 32 * Wide columns by 32 x 16 threads, each of which loads
// Load bytes of a row and ends up with Store bytes of a column.
#pragma once

#include "convert.h"

#if !defined(TILE_SIDE)
#define TILE_SIDE 32  // threads beside each other in a tile, and in a column of it
#endif
constexpr int SIDE = TILE_SIDE, TILE_THREADS = 512, DOWN = TILE_THREADS / SIDE, TURNS = SIDE / DOWN;

template <int Bytes>
struct word_of;
template <>
struct word_of<1> {
  typedef uint8_t type;
};
template <>
struct word_of<2> {
  typedef uint16_t type;
};
template <>
struct word_of<4> {
  typedef uint32_t type;
};
template <>
struct word_of<8> {
  typedef uint64_t type;
};
template <int Bytes>
using word = typename word_of<Bytes>::type;
// Odd strides put words on any address: the hardware serves it, and the type says it.
template <int Bytes>
using anywhere = word<Bytes> __attribute__((aligned(1)));

template <target To, int Wide>
MFMASIM_DEVICE word<Wide> pack(const float *x) {
  if constexpr (Wide == 8) return pack_four<To, clamp>(x) | (uint64_t)pack_four<To, clamp>(x + 4) << 32;
  else if constexpr (Wide == 4) return pack_four<To, clamp>(x);
  else if constexpr (Wide == 2) return (uint16_t)pack_two<To, clamp, false>(x[0], x[1], 0);
  else return convert_one<To, clamp>(x[0]);
}

// How bytes are made and stored: by packed conversions, with the hint that their lines are not used again.
struct packed_and_hinted {
  template <target To, int Wide>
  MFMASIM_DEVICE word<Wide> pack(const float *x) {
    return ::pack<To, Wide>(x);
  }
  template <typename Word, typename At>
  MFMASIM_DEVICE void store(Word value, At *at) {
    __builtin_nontemporal_store(value, at);
  }
};

template <int Store, int Pad>
using passage = word<Store>[SIDE][SIDE + Pad];

// One tile, whose first element is (top, left); the largest magnitude of the thread's elements. With Edges the tile may
// reach beyond the matrix: what lies there is neither read nor written. Without Turned only the rows are written.
template <typename From, int Load, int Store, target To, int Pad, bool Edges, bool Turned = true,
          typename Way = packed_and_hinted>
MFMASIM_DEVICE int turn(passage<Store, Pad> &tile, const From *in, uint8_t *out, uint8_t *across, float factor,
                        int64_t rows, int64_t cols, int64_t top, int64_t left) {
  constexpr int Wide = Load / sizeof(From);
  const bool whole = !Edges || (top + SIDE * Store <= rows && left + SIDE * Wide <= cols);
  const int tidx = threadIdx.x % SIDE, tidy = threadIdx.x / SIDE;
  word<Store> columns[Wide][TURNS] = {};
  int highest = 0;
#pragma unroll
  for (int turn = 0; turn < TURNS; ++turn) {
#pragma unroll
    for (int i = 0; i < Store; ++i) {
      const int64_t row = top + (tidy + turn * DOWN) * Store + i, col = left + tidx * Wide;
      const int64_t at = row * cols + col;
      From given[Wide] = {};
      if (whole) __builtin_memcpy(given, in + at, sizeof given);
      else
        for (int j = 0; j < Wide; ++j)
          if (row < rows && col + j < cols) given[j] = in[at + j];
      float scaled[Wide];
      for (int j = 0; j < Wide; ++j) {
        const float x = widen(given[j]);
        highest = max(highest, magnitude(x));
        scaled[j] = x * factor;
      }
      const word<Wide> packed = Way::template pack<To, Wide>(scaled);
      if (whole) Way::store(packed, (anywhere<Wide> *)(out + at));
      else
        for (int j = 0; j < Wide; ++j)
          if (row < rows && col + j < cols) out[at + j] = (uint8_t)(packed >> 8 * j);
      for (int j = 0; j < Wide; ++j) columns[j][turn] |= (word<Store>)(packed >> 8 * j & 0xff) << 8 * i;
    }
  }
  if constexpr (!Turned) return highest;
#pragma unroll
  for (int j = 0; j < Wide; ++j) {
    for (int turn = 0; turn < TURNS; ++turn) tile[tidx][tidy + turn * DOWN] = columns[j][turn];
    __syncthreads();
    for (int turn = 0; turn < TURNS; ++turn) {
      const int column = tidy + turn * DOWN;
      const int64_t col = left + column * Wide + j, row = top + tidx * Store;
      const int64_t at = col * rows + row;
      if (whole) Way::store(tile[column][tidx], (anywhere<Store> *)(across + at));
      else
        for (int i = 0; i < Store; ++i)
          if (row + i < rows && col < cols) across[at + i] = (uint8_t)(tile[column][tidx] >> 8 * i);
    }
    __syncthreads();
  }
  return highest;
}

// The part that starts at (first_row, first_col); rows and cols are the whole matrix's. Tiles go down first. A workgroup has
// as many tiles beside each other as `Across` says.
template <typename From, int Load, int Store, target To, int Pad, int Across, bool Turned = true,
          typename Way = packed_and_hinted>
__device__ void cast_transpose(const From *in, uint8_t *out, uint8_t *across, const float *noop, const float *scale,
                               float *amax, float *scale_inv, int64_t rows, int64_t cols, int64_t first_row,
                               int64_t first_col, int tiles_down) {
  if (skipped(noop)) return;
  __shared__ passage<Store, Pad> tile;
  const int64_t top = first_row + (int64_t)(blockIdx.x % tiles_down) * SIDE * Store;
  constexpr int WIDTH = SIDE * (Load / sizeof(From));
  const int64_t left = first_col + (int64_t)(blockIdx.x / tiles_down) * WIDTH * Across;
  const float factor = scale[0];
  int highest = 0;
  for (int n = 0; n < Across; ++n)
    highest = max(highest, turn<From, Load, Store, To, Pad, false, Turned, Way>(tile, in, out, across, factor, rows,
                                                                                cols, top, left + n * WIDTH));
  collect_amax<TILE_THREADS>(highest, amax);
  define_scale_inv(factor, scale_inv);
}

// What no tile fits: one element a thread, in the part of `high` rows and `wide` columns.
constexpr int REST_THREADS = 256;
template <typename From, target To>
__device__ void cast_transpose_rest(const From *in, uint8_t *out, uint8_t *across, const float *noop,
                                    const float *scale, float *amax, float *scale_inv, int64_t rows, int64_t cols,
                                    int64_t first_row, int64_t first_col, int64_t high, int64_t wide) {
  if (skipped(noop)) return;
  const float factor = scale[0];
  const int64_t place = (int64_t)blockIdx.x * REST_THREADS + threadIdx.x;
  int highest = 0;
  if (place < high * wide) {
    const int64_t row = first_row + place / wide, col = first_col + place % wide;
    const float x = widen(in[row * cols + col]);
    highest = magnitude(x);
    const uint8_t code = convert_one<To, clamp>(x * factor);
    out[row * cols + col] = code;
    across[col * rows + row] = code;
  }
  collect_amax<REST_THREADS>(highest, amax);
  define_scale_inv(factor, scale_inv);
}

#define BESIDE const float *noop, const float *scale, float *amax, float *scale_inv, int64_t rows, int64_t cols
// A kernel with attributes, and what follows `store` among the arguments of cast_transpose. APART may say that its
// matrices are apart.
#if !defined(APART)
#define APART
#endif
#define TILES_AS(from, to, load, store, name, attributes, ...)                                                      \
  extern "C" __global__ void __launch_bounds__(TILE_THREADS) attributes name##_##from##_##to##_load##load##_store##store( \
      const from *APART in, uint8_t *APART out, uint8_t *APART across, BESIDE, int64_t first_row, int64_t first_col, \
      int tiles_down) {                                                                                             \
    cast_transpose<from, load, store, to, __VA_ARGS__>(in, out, across, noop, scale, amax, scale_inv, rows, cols,   \
                                                       first_row, first_col, tiles_down);                           \
  }
#define TILES(from, to, load, store, pad, name) TILES_AS(from, to, load, store, name, , pad, 1)
#define REST(from, to)                                                                                              \
  extern "C" __global__ void __launch_bounds__(REST_THREADS) cast_transpose_##from##_##to##_rest(                   \
      const from *in, uint8_t *out, uint8_t *across, BESIDE, int64_t first_row, int64_t first_col, int64_t high,    \
      int64_t wide) {                                                                                               \
    cast_transpose_rest<from, to>(in, out, across, noop, scale, amax, scale_inv, rows, cols, first_row, first_col,  \
                                  high, wide);                                                                      \
  }
#define STORES(from, to, load, pad, name) \
  TILES(from, to, load, 8, pad, name) TILES(from, to, load, 4, pad, name) TILES(from, to, load, 2, pad, name)
#define LOADS(from, to, a, b, c)                   \
  STORES(from, to, a, 1, cast_transpose)           \
  STORES(from, to, b, 1, cast_transpose)           \
  STORES(from, to, c, 1, cast_transpose)           \
  REST(from, to)
#define EVERY_TILE(from, a, b, c) LOADS(from, e4m3, a, b, c) LOADS(from, e5m2, a, b, c)
