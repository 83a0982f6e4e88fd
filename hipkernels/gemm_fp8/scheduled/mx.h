// MXFP4: A and B in E2M1, two elements to a byte, with an E8M0 scale for 32 elements of K. A tile is 256 of K deep, so that
// its rows are as long as those of 128 FP8, and go the same ways; a fragment's two halves are two instructions.
//
// Scales are in hipBLASLt's and AITER's order, tiles of 32 rows and 8 blocks: dword `lane` of a tile has what the lane gives
// to four instructions, rows lane % 16 and 16 further, blocks lane / 16 and 4 further. They pass through the LDS as they are.
//
// M is any number, N a multiple of 16, K of 32 and more than one tile. C may be read and written in lines of 8 bytes.
#pragma once
#include "operands.h"

#define BEYOND 0x80000000u  // no resource is as large: the load gives 0
#define E2M1 4              // its code in the instruction (CDNA4 ISA manual, "Matrix formats")
#define SCALES 256          // bytes of a tile of 32 rows

typedef unsigned words2 __attribute__((ext_vector_type(2)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef bf16 bf16x4 __attribute__((ext_vector_type(4)));

struct MxGemm : Gemm {
  const fp8 *SA, *SB;
};

// Scales of 32 rows, or of 64.
template <int TILES>
struct Dwords {
  words2 of;
  MOVES void start(unsigned at) { asm volatile("ds_read2st64_b32 %0, %1 offset1:1" : "=v"(of) : "v"(at) : "memory"); }
  MOVES unsigned word(int i) const { return of[i / 2]; }
};
template <>
struct Dwords<2> {
  unsigned of;
  MOVES void start(unsigned at) { asm volatile("ds_read_b32 %0, %1" : "=v"(of) : "v"(at) : "memory"); }
  MOVES unsigned word(int) const { return of; }
};

// SHUFFLED: B in AITER's order (16, 16): tiles of 16 rows, in one the 16 bytes of each row next to each other.
template <typename S, bool SHUFFLED>
struct Mx : Plain<S> {
  typedef MxGemm Problem;
  typedef Plain<S> Base;
  static constexpr int STEPS = 2, SCALE_BYTES = 16 * SCALES, SCALE_READS = 1, SCALE_FETCHES = WAVES == 4 ? 1 : 2;
  template <int TILES>
  struct Operand {
    Fragment of[TILES];
    Dwords<TILES> scales;
  };
  // What a wave fetches of the scales: one tile of each matrix with 8 waves; four of one of them, 16 bytes a lane, with 4.
  struct Scales {
    __amdgpu_buffer_rsrc_t from;
    unsigned lane;
    int start;
    char *to;
  };

  int row_bytes;
  unsigned column;  // byte of the tile's row that the lane fetches
  Scales scales[SCALE_FETCHES];

  MOVES Mx(const Problem &g, int row, int column, Tiles &a_tiles, Tiles &b_tiles, char *scales, unsigned wave, unsigned lane,
           unsigned a_row, unsigned b_row)
      : Base(wave, lane, side_of_a(g, row, a_tiles, wave, lane), side_of_b(g, column, b_tiles, wave, lane)),
        row_bytes(g.K / 2), column(place_of<S>(wave, lane).column) {
    this->a.from = from_of(a_tiles, scales, a_row, lane);
    this->b.from = from_of(b_tiles, scales + 8 * SCALES, b_row, lane);
    const int across = tiles_of(g);
#pragma unroll
    for (int n = 0; n < SCALE_FETCHES; ++n) {
      constexpr unsigned each = WAVES == 4 ? 16 : 4;
      const bool of_b = WAVES == 4 ? wave / 2 : n;
      const unsigned tile = WAVES == 4 ? wave % 2 * 4 : wave, byte = lane * each;
      const int tiles = (of_b ? g.N + 31 : g.M + 31) / 32, first = (of_b ? column : row) / 32 + tile;
      this->scales[n] = {
          __builtin_amdgcn_make_buffer_rsrc((void *)(of_b ? g.SB : g.SA), 0, tiles * across * SCALES, 0x27000),
          byte / SCALES * across * SCALES + byte % SCALES, first * across * SCALES, scales + (of_b * 8 + tile) * SCALES};
    }
  }
  // So many columns lie between the two halves of a tile of B, beyond those of a half.
  MOVES void move_scales(int columns) {
    static_assert(WAVES == 8, "a wave has the scales of one half");
    if (this->wave >= 4) scales[1].start += columns / 32 * ((row_bytes + TILE_K - 1) / TILE_K) * SCALES;
  }
  static MOVES From from_of(Tiles &tiles, char *scales, unsigned row, unsigned lane) {
    From from = lane_part<S>(tiles[0][0], row, lane);
    from.scales = LDS_ADDRESS(scales + row / 32 * SCALES + lane * 4);
    return from;
  }
  static MOVES Side side_of_a(const Problem &g, int row, Tiles &tiles, unsigned wave, unsigned lane) {
    const int step = g.lda / 2, rows = min(2 * HALF, g.M - row);
    return {rows_of(g.A, row, rows, step, g.K / 2), Base::byte_of(step, wave, lane), step, tiles, {}};
  }
  static MOVES Side side_of_b(const Problem &g, int column, Tiles &tiles, unsigned wave, unsigned lane) {
    const int step = SHUFFLED ? g.K / 2 : g.ldb / 2, rows = min(2 * HALF, g.N - column);
    const Place at = place_of<S>(wave, lane);
    const unsigned byte = SHUFFLED ? at.row / 16 * 16 * step + at.column * 16 + at.row % 16 * 16 : at.row * step + at.column;
    return {rows_of(g.B, column, rows, step, g.K / 2), byte, step, tiles, {}};
  }
  static MOVES int bytes_of(const Problem &g) { return g.K / 2; }
  static MOVES int tiles_of(const Problem &g) { return (g.K / 2 + TILE_K - 1) / TILE_K; }
  static MOVES int blocks_of(int lines) { return (lines + 2 * HALF - 1) / (2 * HALF); }

  // Beyond the end of K the LDS gets zeros.
  MOVES Into into_a(unsigned slot, unsigned half, int k) const { return until_end(Base::into(this->a, slot, half, k)); }
  MOVES Into into_b(unsigned slot, unsigned half, int k) const {
    Into into = until_end(Base::into(this->b, slot, half, k));
    if constexpr (SHUFFLED) into.k = 16 * k;
    return into;
  }
  MOVES Into until_end(Into into) const {
    if ((int)column >= row_bytes - into.k) into.lane = BEYOND;
    return into;
  }
  MOVES void fetch_scales(unsigned slot, int k) const {
#pragma unroll
    for (const Scales &s : scales)
      __builtin_amdgcn_raw_ptr_buffer_load_lds(s.from, (mfmasim_lds_void *)(s.to + slot * SCALE_BYTES), WAVES == 4 ? 16 : 4,
                                               s.lane, s.start + k / TILE_K * SCALES, 0, 0);
  }

  MOVES From from_a(unsigned slot, unsigned half) const { return within(this->a.from, slot, half); }
  MOVES From from_b(unsigned slot, unsigned half) const { return within(this->b.from, slot, half); }
  static MOVES From within(From lane, unsigned slot, unsigned half) {
    From from = Base::within(lane, slot, half);
    from.scales = lane.scales + slot * SCALE_BYTES + half * (HALF / 32) * SCALES;
    return from;
  }
  template <int TILES>
  static MOVES void start(Operand<TILES> &to, From from, int r) {
    if (r == 0)
      to.scales.start(from.scales);
    else
      start_half_of(r % 2 ? to.of[(r - 1) / 2].low : to.of[(r - 1) / 2].high, from.at[(r - 1) % 2], (r - 1) / 2);
  }
  template <int TILES>
  static MOVES void settle(Operand<TILES> &operand) {
#pragma unroll
    for (int i = 0; i < TILES; ++i) arrived(operand.of[i]);
    asm volatile("" : "+v"(operand.scales.of));
  }
  // Of one step: the second 64 bytes of a row are another bit of the address.
  static MOVES From step_of(From from, int step) { return {{from.at[0] ^ step % 2 * 64u, 0}, from.scales}; }

  // What fills up the scales' last tile may be anything, NaN too, which not even 0 makes 0.
  template <int TILES>
  MOVES void end(Operand<TILES> &operand) const {
    operand.scales.of &= (left() > 0 ? 0x0000ffffu : 0u) | (left() > 4 ? 0xffff0000u : 0u);
  }
  template <int TILES>
  MOVES void end_of_step(Dwords<TILES> &scales, int step) const {
    if (left() <= 4 * step) scales.of = 0;
  }
  // Blocks of the last tile, from the lane's first one.
  MOVES int left() const { return (row_bytes - 1) % TILE_K / 16 + 1 - (int)this->thread / 16; }

  // The transposed product: a lane has one row of C, and four columns next to each other.
  template <int ROWS, int COLUMNS>
  static MOVES void product(f32x4 (&c)[ROWS][COLUMNS], const Operand<ROWS> &a, const Operand<COLUMNS> &b, int n) {
    const int step = n / (ROWS * COLUMNS), i = n / COLUMNS % ROWS, j = n % COLUMNS;
    const words4 x = step ? b.of[j].high : b.of[j].low, y = step ? a.of[i].high : a.of[i].low;
    c[i][j] = scaled(4 * step + 2 * (j % 2) + i % 2, x, y, c[i][j], b.scales.word(j), a.scales.word(i));
  }
  // The instruction has the bytes of its scales in its text.
  template <int CASE = 0>
  static MOVES f32x4 scaled(int which, words4 x, words4 y, f32x4 sum, unsigned of_x, unsigned of_y) {
    if constexpr (CASE == 8) return sum;
    else if (which != CASE) return scaled<CASE + 1>(which, x, y, sum, of_x, of_y);
    else
      return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(first_four(x), first_four(y), sum, E2M1, E2M1,
                                                              CASE / 4 * 2 + CASE / 2 % 2, of_x, CASE / 4 * 2 + CASE % 2, of_y);
  }
  static MOVES i32x8 first_four(words4 x) { return i32x8{(int)x.x, (int)x.y, (int)x.z, (int)x.w, 0, 0, 0, 0}; }

  // What is not in C has an offset beyond it, so that there are no branches: they would cost the main loop its registers.
  template <int ROWS, int COLUMNS>
  static __device__ __attribute__((always_inline)) void store(const Problem &g, int row, int column,
                                                              f32x4 (&c)[ROWS][COLUMNS], unsigned lane) {
    const int lines_left = max(g.M - row, 0);  // a wave may have none: as a size, a negative number has no end
    const auto lines = __builtin_amdgcn_make_buffer_rsrc(g.C + (size_t)row * g.ldc, 0, lines_left * g.ldc * 2, 0x27000);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const int line = 16 * i + lane % 16;
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        const int first = column + 16 * j;
        const unsigned place = first < g.N ? (line * g.ldc + first + lane / 16 * 4) * 2 : BEYOND;
        bf16x4 value;
        if (g.beta != 0.0f) value = __builtin_bit_cast(bf16x4, __builtin_amdgcn_raw_buffer_load_b64(lines, place, 0, 0));
#pragma unroll
        for (int t = 0; t < 4; ++t)
          value[t] = to_bf16(g.beta == 0.0f ? g.alpha * c[i][j][t]
                                            : __builtin_fmaf(g.alpha, c[i][j][t], g.beta * from_bf16(value[t])));
        __builtin_amdgcn_raw_buffer_store_b64(__builtin_bit_cast(words2, value), lines, place, 0, 0);
      }
    }
  }
};

// A kernel whose body sees the problem as `g`.
#define MX_GEMM(NAME, THREADS, BODY)                                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
      NAME(const fp8 *A, const fp8 *B, const fp8 *SA, const fp8 *SB, bf16 *C, int M, int N, int K, int lda, int ldb, \
           int ldc, float alpha, float beta) {                                                                       \
    const MxGemm g = {{A, B, C, M, N, K, lda, ldb, ldc, alpha, beta}, SA, SB};                                      \
    BODY;                                                                                                            \
  }
