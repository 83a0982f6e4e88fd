// GEMM in FP8 with scales in f32 beside the elements: one for 128 of K in a row of A, one for 128x128 of B.
//
//   C[m][n] = sum over blocks b of  SA[b][m] SB[n / 128][b]  (sum of A[m][k] B[n][k] over the 128 k of b)
//
// A is [M, K], row-major; SA is [K / 128, M], so that a lane loads the scales of its four rows together; B is [N, K], by
// rows or in AITER's order; SB is [N / 128, K / 128]. The matrix instructions sum one block, beginning with 0; the sum over
// blocks is f32 arithmetic outside of them, one fused multiply-add with SA SB (rounded) for each block, in the order of K.
// N and K are multiples of 128, M is any number.
#pragma once
#include "../gemm_fp8/tile.h"

#define SIDE 128  // rows and columns of C that a workgroup computes, and elements of K under one scale
#define A_TILES 4 // fragments of A of a wave: 64 rows
#define BEYOND 0x80000000u  // offset of a row that does not exist: no resource is as large, so the load gives 0

// Read by the scalar unit: nothing writes to the scales while the kernel runs.
typedef __attribute__((address_space(4))) float Constant;

struct Problem {
  const fp8 *A, *B;
  const float *SA, *SB;
  int M, N, K, lda;
};

// Rows of a tile of A: row n of the tile is row `at(n)` of A, or beyond.
struct Following {
  int first, M;
  MOVES unsigned at(unsigned n) const { return first + n < (unsigned)M ? first + n : BEYOND; }
};
// The rows that a list names, `fold` entries of the list for each row of A; entries from `count` on name none.
struct Listed {
  const int *list;
  int count, fold;
  MOVES unsigned at(unsigned n) const { return (unsigned)list[n] < (unsigned)count ? list[n] / fold : BEYOND; }
};

// The whole of A, and the offset of each 16 (4) bytes that a lane fetches for a tile.
template <int WAVES>
struct Fetch {
  static constexpr int LOADS = DIRECT_LOADS(SIDE, WAVES);
  __amdgpu_buffer_rsrc_t source;
  unsigned offset[LOADS];

  template <typename Rows>
  MOVES Fetch(const Problem &p, const Rows &rows, unsigned wave, unsigned lane)
      : source(__builtin_amdgcn_make_buffer_rsrc((void *)p.A, 0, (p.M - 1) * p.lda + p.K, 0x27000)) {
#pragma unroll
    for (unsigned n = 0; n < LOADS; ++n) {
      const unsigned place = ((n * WAVES + wave) * 64 + lane) * DIRECT_BYTES, row = place / TILE_K;
      const unsigned from = rows.at(row);
      offset[n] = from == BEYOND ? BEYOND : from * p.lda + FETCH_COLUMN(Row, row, place % TILE_K);
    }
  }
  MOVES void start(char *tile, int k, unsigned wave) const {
#pragma unroll
    for (unsigned n = 0; n < LOADS; ++n)
      __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (mfmasim_lds_void *)(tile + (n * WAVES + wave) * 64 * DIRECT_BYTES),
                                               DIRECT_BYTES, offset[n], k, 0, 0);
  }
};

// Scales of the rows that a lane has of each fragment: rows 4 (lane / 16) onwards.
struct RowScales {
  f32x4 of[A_TILES];
};
template <typename Rows>
struct ScaleFetch {
  __amdgpu_buffer_rsrc_t source;
  unsigned offset[A_TILES][4];
  int step;

  MOVES ScaleFetch(const Problem &p, const Rows &rows, unsigned first, unsigned lane)
      : source(__builtin_amdgcn_make_buffer_rsrc((void *)p.SA, 0, p.K / SIDE * p.M * 4, 0x27000)), step(p.M * 4) {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const unsigned from = rows.at(first + 16 * i + 4 * (lane / 16) + t);
        offset[i][t] = from == BEYOND ? BEYOND : from * 4;
      }
  }
  MOVES void start(RowScales &to, int block) const {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int t = 0; t < 4; ++t)
        to.of[i][t] = __builtin_bit_cast(
            float, __builtin_amdgcn_raw_buffer_load_b32(source, offset[i][t], block * step, 0));
  }
};
// Rows that follow each other have their scales together: one load for four, whose end may lie beyond A's rows.
template <>
struct ScaleFetch<Following> {
  __amdgpu_buffer_rsrc_t source;
  unsigned offset;
  int step;

  MOVES ScaleFetch(const Problem &p, const Following &rows, unsigned first, unsigned lane)
      : source(__builtin_amdgcn_make_buffer_rsrc((void *)p.SA, 0, p.K / SIDE * p.M * 4, 0x27000)),
        offset((rows.first + first + 4 * (lane / 16)) * 4), step(p.M * 4) {}
  MOVES void start(RowScales &to, int block) const {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
      to.of[i] = __builtin_bit_cast(
          f32x4, __builtin_amdgcn_raw_buffer_load_b128(source, offset + 64 * i, block * step, 0));
  }
};

// B by rows: through the LDS like A. `COLUMNS` fragments a wave, each of 16 rows of B.
template <int COLUMNS, int WAVES>
struct ByRows {
  static constexpr bool in_lds = true;
  __amdgpu_buffer_rsrc_t source;
  int ldb;
  MOVES ByRows(const Problem &p, const fp8 *B, const int (&)[COLUMNS], int column, unsigned)
      : source(rows_of(B, column, SIDE, p.K, p.K)), ldb(p.K) {}
  MOVES void start(Fragment (&)[COLUMNS], char *tile, int k, unsigned wave, unsigned lane) const {
    fetch<Row, SIDE, WAVES>(tile, source, 0, ldb, k, wave, lane);
  }
  MOVES void read(Fragment (&b)[COLUMNS], const char *tile, unsigned first, unsigned lane) const {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) start_read<Row>(b[j], tile, first + 16 * j, lane);
  }
};
// B in AITER's order (16, 16): [N / 16][K / 16][16 rows][16 bytes]. What the lanes of a wave need of 16 rows and 64 of K is
// 1 KiB that follows on, so it goes straight to the registers.
template <int COLUMNS, int WAVES>
struct Shuffled {
  static constexpr bool in_lds = false;
  __amdgpu_buffer_rsrc_t source;
  unsigned offset[COLUMNS];
  MOVES Shuffled(const Problem &p, const fp8 *B, const int (&first)[COLUMNS], int, unsigned lane)
      : source(__builtin_amdgcn_make_buffer_rsrc((void *)B, 0, p.N * p.K, 0x27000)) {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) offset[j] = first[j] * p.K + lane * 16;
  }
  MOVES void start(Fragment (&b)[COLUMNS], char *, int k, unsigned, unsigned) const {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
      b[j].low = __builtin_bit_cast(words4, __builtin_amdgcn_raw_buffer_load_b128(source, offset[j], k * 16, 0));
      b[j].high = __builtin_bit_cast(words4, __builtin_amdgcn_raw_buffer_load_b128(source, offset[j], k * 16 + 1024, 0));
    }
  }
  MOVES void read(Fragment (&)[COLUMNS], const char *, unsigned, unsigned) const {}
};

// The sums of a workgroup of WAVES_M x WAVES_N waves, 2 x 2 or 2 x 4: a wave has 64 rows and COLUMNS tiles of 16 columns.
//
// `first` is where each of its tiles begins in the rows of B, `scale_row` the row of SB that belongs to it.
template <template <int, int> typename Operand, int WAVES_N, int COLUMNS, typename Rows>
MOVES void sums_of(f32x4 (&sum)[A_TILES][COLUMNS], const Problem &p, const fp8 *B, const float *SB, const Rows &rows,
                   const int (&first)[COLUMNS], const int (&scale_row)[COLUMNS], int column, unsigned wave, unsigned lane,
                   char (&a_tile)[2][SIDE * TILE_K], char *b_tile) {
  constexpr int WAVES = 2 * WAVES_N;
  typedef Operand<COLUMNS, WAVES> B_;
  const unsigned wave_m = wave / WAVES_N * 64, wave_n = wave % WAVES_N * 16 * COLUMNS;
  const Fetch<WAVES> from_a(p, rows, wave, lane);
  const ScaleFetch<Rows> from_scales(p, rows, wave_m, lane);
  const B_ from_b(p, B, first, column, lane);
  const int tiles = p.K / TILE_K;

  // Two slots, each with its own registers: a turn of the loop is two tiles, so that nothing is copied.
  RowScales scales[2];
  Fragment b[2][COLUMNS];
#define START(slot, t)                                                                                       \
  from_scales.start(scales[slot], t);                                                                        \
  from_b.start(b[slot], b_tile + (slot) * SIDE * TILE_K * B_::in_lds, (t) * TILE_K, wave, lane);             \
  from_a.start(a_tile[slot], (t) * TILE_K, wave)
#define NEXT_FETCHED() WAIT_DIRECT(0)  // next tile: fetched
#define ALL_READ() BARRIER()           // next tile: by all waves, and no wave reads this one any more
#define STEP(slot, t)                                                                                        \
  {                                                                                                          \
    if ((t) + 1 < tiles) { START(slot ^ 1, (t) + 1); }                                                       \
    Fragment a[A_TILES];                                                                                     \
    _Pragma("unroll") for (int i = 0; i < A_TILES; ++i) start_read<Row>(a[i], a_tile[slot], wave_m + 16 * i, lane); \
    from_b.read(b[slot], b_tile + (slot) * SIDE * TILE_K * B_::in_lds, wave_n, lane);                        \
    WAIT_LDS();                                                                                              \
    _Pragma("unroll") for (int i = 0; i < A_TILES; ++i) arrived(a[i]);                                       \
    if constexpr (B_::in_lds) _Pragma("unroll") for (int j = 0; j < COLUMNS; ++j) arrived(b[slot][j]);       \
    add_block(sum, a, b[slot], scales[slot], SB, scale_row, tiles, t);                                       \
    if ((t) + 1 < tiles) {                                                                                   \
      NEXT_FETCHED();                                                                                       \
      ALL_READ();                                                                                           \
    }                                                                                                        \
  }
  START(0, 0);
  WAIT_DIRECT(0);  // first tile: fetched
  BARRIER();       // first tile: by all waves
  int t = 0;
  for (; t + 1 < tiles; t += 2) {
    STEP(0, t)
    STEP(1, t + 1)
  }
  if (t < tiles) STEP(0, t)
#undef START
#undef STEP
#undef NEXT_FETCHED
#undef ALL_READ
}

// One block of K: each product begins with 0, and joins the sum with its two scales.
template <int COLUMNS>
MOVES void add_block(f32x4 (&sum)[A_TILES][COLUMNS], const Fragment (&a)[A_TILES], const Fragment (&b)[COLUMNS],
                     const RowScales &scales, const float *SB, const int (&scale_row)[COLUMNS], int blocks, int block) {
#pragma unroll
  for (int j = 0; j < COLUMNS; ++j) {
    const float other = ((const Constant *)SB)[scale_row[j] * blocks + block];
#pragma unroll
    for (int i = 0; i < A_TILES; ++i) {
      const f32x4 part = multiply(f32x4{}, a[i], b[j]);
#pragma unroll
      for (int t = 0; t < 4; ++t) sum[i][j][t] = __builtin_fmaf(part[t], scales.of[i][t] * other, sum[i][j][t]);
    }
  }
}
