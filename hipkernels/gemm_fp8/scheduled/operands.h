// How the schedules move and multiply their operands: rows of A and of B pass through the LDS, in two slots of two halves
// each, fetched straight from memory and read as fragments. The schedule says when; HALF (rows of a half) and WAVES are its own.
//
// `Plain` is FP8; mx.h derives MXFP4 from it, whose rows of 256 elements are as long.
#pragma once
#include "../tile.h"

#define FETCHES DIRECT_LOADS(HALF, WAVES)  // of one wave for a half: by so much vmcnt rises
#define READS 2                            // ds_read_b128 of a fragment: by so much lgkmcnt rises

typedef char Tiles[2][2][HALF * TILE_K];  // of one matrix: slot, half

// Where operands come from: the lane's address for each half of the K of a fragment's first row. Sixteen rows further down is
// a constant further on, in every swizzle: a register for each fragment's address would leave too few for the rest.
struct From {
  unsigned at[2], scales;
};
template <typename S>
MOVES From lane_part(const char *tile, unsigned row, unsigned lane) {
  const unsigned first = row + lane % 16, column = lane / 16 * 16;
  return {{LDS_ADDRESS(tile + READ_AT(S, first, column)), LDS_ADDRESS(tile + READ_AT(S, first, 64 + column))}, 0};
}
// Start to read half of fragment `number`; lgkmcnt rises by 1.
MOVES void start_half_of(words4 &to, unsigned at, int number) {
  asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(to) : "v"(at), "i"(number * 16 * TILE_K) : "memory");
}
// What is fetched: a half in the LDS, the matrix, the lane's byte in it, the first of the rows, the bytes from a row to the
// next, and the byte at which the tile begins.
struct Into {
  char *half;
  __amdgpu_buffer_rsrc_t matrix;
  unsigned lane;
  int first, ld, k;
};
// Rows from one load of a wave to the next. A multiple of 16 changes no swizzle: the lane's byte is the same for all loads,
// and a scalar has the rest.
#define LOAD_ROWS (WAVES * 64 * DIRECT_BYTES / TILE_K)
// The row and the byte of the tile that a lane fetches first.
struct Place {
  unsigned row, column;
};
template <typename S>
MOVES Place place_of(unsigned wave, unsigned lane) {
  const unsigned place = (wave * 64 + lane) * DIRECT_BYTES, row = place / TILE_K;
  return {row, FETCH_COLUMN(S, row, place % TILE_K)};
}

// A matrix on its way: from memory, into its tiles, from there to the lanes.
struct Side {
  __amdgpu_buffer_rsrc_t matrix;
  unsigned lane;
  int ld;
  Tiles &tiles;
  From from;
};

template <typename S>
struct Plain {
  typedef Gemm Problem;
  static constexpr int COLUMNS = 2 * HALF;  // of a workgroup, in the result
  static constexpr int STEPS = 1;         // instructions that a pair of fragments takes
  static constexpr int SCALE_BYTES = 16;  // of the LDS, for a tile of both matrices; none, but an array needs some
  static constexpr int SCALE_READS = 0, SCALE_FETCHES = 0;  // by so much the scales of a half, of a tile raise the counters
  template <int TILES>
  struct Operand {
    Fragment of[TILES];
  };

  unsigned wave, thread;
  Side a, b;

  // Rows from `a_row` and `b_row` of each half are the wave's.
  MOVES Plain(const Gemm &g, int row, int column, Tiles &a_tiles, Tiles &b_tiles, char *, unsigned wave, unsigned lane,
              unsigned a_row, unsigned b_row)
      : wave(wave), thread(lane),
        a{rows_of(g.A, row, 2 * HALF, g.lda, g.K), byte_of(g.lda, wave, lane), g.lda, a_tiles,
          lane_part<S>(a_tiles[0][0], a_row, lane)},
        b{rows_of(g.B, column, 2 * HALF, g.ldb, g.K), byte_of(g.ldb, wave, lane), g.ldb, b_tiles,
          lane_part<S>(b_tiles[0][0], b_row, lane)} {}
  MOVES Plain(unsigned wave, unsigned lane, const Side &a, const Side &b) : wave(wave), thread(lane), a(a), b(b) {}
  static MOVES unsigned byte_of(int ld, unsigned wave, unsigned lane) {
    const Place place = place_of<S>(wave, lane);
    return place.row * ld + place.column;
  }
  static MOVES int tiles_of(const Gemm &g) { return g.K / TILE_K; }
  static MOVES int bytes_of(const Gemm &g) { return g.K; }
  MOVES void move_scales(int) {}
  static MOVES int blocks_of(int lines) { return lines / (2 * HALF); }

  // --- From memory to the LDS: a tile begins at byte k of each row.
  MOVES Into into_a(unsigned slot, unsigned half, int k) const { return into(a, slot, half, k); }
  MOVES Into into_b(unsigned slot, unsigned half, int k) const { return into(b, slot, half, k); }
  static MOVES Into into(const Side &side, unsigned slot, unsigned half, int k) {
    return {side.tiles[slot][half], side.matrix, side.lane, (int)half * HALF, side.ld, k};
  }
  MOVES void fetch_next(unsigned n, const Into &into) const {
    if constexpr (LOAD_ROWS % 16 != 0)
      fetch_one<S, HALF, WAVES>(n, into.half, into.matrix, into.first, into.ld, into.k, wave, thread);
    else
      __builtin_amdgcn_raw_ptr_buffer_load_lds(into.matrix,
                                               (mfmasim_lds_void *)(into.half + (n * WAVES + wave) * 64 * DIRECT_BYTES),
                                               DIRECT_BYTES, into.lane, (into.first + n * LOAD_ROWS) * into.ld + into.k, 0, 0);
  }
  MOVES void fetch_half(const Into &into) const {
#pragma unroll
    for (unsigned n = 0; n < FETCHES; ++n) fetch_next(n, into);
  }
  MOVES void fetch_scales(unsigned, int) const {}

  // --- From the LDS to the lanes. Only `settle` waits for a read, after the kernel's own wait.
  MOVES From from_a(unsigned slot, unsigned half) const { return within(a.from, slot, half); }
  MOVES From from_b(unsigned slot, unsigned half) const { return within(b.from, slot, half); }
  static MOVES From within(From lane, unsigned slot, unsigned half) {
    const unsigned start = (2 * slot + half) * HALF * TILE_K;
    return {{lane.at[0] + start, lane.at[1] + start}, 0};
  }
  // Start read number r of an operand.
  template <int TILES>
  static MOVES void start(Operand<TILES> &to, From from, int r) {
    start_half_of(r % 2 ? to.of[r / 2].high : to.of[r / 2].low, from.at[r % 2], r / 2);
  }
  template <int TILES>
  static MOVES void settle(Operand<TILES> &operand) {
#pragma unroll
    for (int i = 0; i < TILES; ++i) arrived(operand.of[i]);
  }
  // The last tile of K may end early.
  template <int TILES>
  MOVES void end(Operand<TILES> &) const {}

  // --- Products: number n of those of two operands; and C.
  template <int ROWS, int COLUMNS>
  static MOVES void product(f32x4 (&c)[ROWS][COLUMNS], const Operand<ROWS> &a, const Operand<COLUMNS> &b, int n) {
    f32x4 &sum = c[n / COLUMNS][n % COLUMNS];
    sum = multiply(sum, a.of[n / COLUMNS], b.of[n % COLUMNS]);
  }
  template <int ROWS, int COLUMNS>
  static __device__ __attribute__((always_inline)) void store(const Gemm &g, int row, int column,
                                                              f32x4 (&c)[ROWS][COLUMNS], unsigned lane) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) finish_tile(g, row + 16 * i, column + 16 * j, c[i][j], lane);
  }
};
