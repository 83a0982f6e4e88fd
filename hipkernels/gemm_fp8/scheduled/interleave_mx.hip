// 4-wave interleave of MXFP4: as interleave.hip, in steps of 128 of K. A tile in the LDS is two of them deep.
//
// Both steps in one turn would change each sum twice. The compiler then gives it two places, of which 512 registers have not
// enough, and copies: 121 registers in a turn. So a turn is a step, and what differs between the two is computed: a bit of
// the address, a shift of the scales. In each turn half of a tile is fetched, and its scales, for the first step a second time.
#include "../tile.h"
#include "../../grid_maps/maps.h"

#define HALF 128
#define WAVES 4
#include "mx.h"

#define TILES (HALF / 2 / 16)     // fragments of a wave's half
#define PRODUCTS (TILES * TILES)  // of a block
#define GAPS (PRODUCTS - 2)       // between matrix instructions that take loads; the first one is left free

#define XCDS 8
#define WINDOW 4
#define CHUNK 8

#define FETCHED (FETCHES / 2)  // loads of one wave for a half and a turn: by so much vmcnt rises
#define READS_OF_BLOCK (TILES + 1)
#define WAIT_FETCHES(halves, scales) \
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"((halves) * FETCHED + (scales) * D::SCALE_FETCHES) : "memory")
#define FENCE() __builtin_amdgcn_sched_barrier(0)  // the compiler moves nothing across

// 64 rows, a step deep: fragments, and two dwords of scales whose low bytes belong to the step.
struct Operand {
  words4 of[TILES];
  Dwords<TILES> scales;
};
// Start read number r; SETTLED: scales are waited for at once, where the compiler would copy them in flight.
template <bool SETTLED>
MOVES void start(Operand &to, From from, int r) {
  if (r == 0 && SETTLED)
    asm volatile("ds_read2st64_b32 %0, %1 offset1:1\n s_waitcnt lgkmcnt(0)" : "=v"(to.scales.of) : "v"(from.scales) : "memory");
  else if (r == 0)
    to.scales.start(from.scales);
  else
    start_half_of(to.of[r - 1], from.at[0], r - 1);
}
// After the kernel's wait: the bytes of the step come lowest.
MOVES void settle(Operand &operand, int step) {
#pragma unroll
  for (int i = 0; i < TILES; ++i) asm volatile("" : "+v"(operand.of[i]));
  asm volatile("" : "+v"(operand.scales.of));
  operand.scales.of >>= step % 2 * 16;
}

// c += a b^T over a step, and between the matrix instructions: reads of the operand `next`, and loads to the LDS.
template <typename D, bool READ, bool FETCH>
MOVES void block(const D &d, f32x4 (&c)[TILES][TILES], Operand &a, Operand &b, Operand &next, From from, Into into) {
  FENCE();
#pragma unroll
  for (int n = 0; n < PRODUCTS; ++n) {
    const int i = n / TILES, j = n % TILES;
    c[i][j] = D::scaled(2 * (j % 2) + i % 2, b.of[j], a.of[i], c[i][j], b.scales.word(j), a.scales.word(i));
    FENCE();
    if (n == 0 || n > GAPS) continue;
#pragma unroll
    for (int r = (n - 1) * READS_OF_BLOCK / GAPS; r < n * READS_OF_BLOCK / GAPS; ++r) {
      if constexpr (FETCH) {
#pragma unroll
        for (int f = r * FETCHED / READS_OF_BLOCK; f < (r + 1) * FETCHED / READS_OF_BLOCK; ++f) d.fetch_next(f, into);
      }
      if constexpr (READ) start<!FETCH>(next, from, r);
      FENCE();
    }
  }
}

// What a turn fetches: half of the rows of each half, of the tile after next (after the one that the turn before began).
MOVES Into part_of(Into into, int turn) {
  const int part = (turn - 1) & 1;
  into.half += part * (HALF / 2) * TILE_K;
  into.first += part * (HALF / 2);
  return into;
}
#define SLOT(turn) ((turn) >> 1 & 1)
#define BEGINS(turn) (((((turn) - 1) >> 1) + 2) * TILE_K)  // byte of K of what a turn fetches
#define INTO_A(half, turn) part_of(d.into_a(SLOT((turn) - 1), half, BEGINS(turn)), turn)
#define INTO_B(half, turn) part_of(d.into_b(SLOT((turn) - 1), half, BEGINS(turn)), turn)
#define FROM_A(half, turn) d.step_of(d.from_a(SLOT(turn), half), turn)
#define FROM_B(half, turn) d.step_of(d.from_b(SLOT(turn), half), turn)
#define BLOCK(i, j, next, from, into) block<D, true, true>(d, c[i][j], a[i], b[j], next, from, into)
#define BLOCK_READ(i, j, next, from) block<D, true, false>(d, c[i][j], a[i], b[j], next, from, {})
#define BLOCK_LAST(i, j) block<D, false, false>(d, c[i][j], a[i], b[j], a[i], {}, {})
#define STORE(i, j) { FINISH(g, p, D::store(p, mine + (i) * HALF, here + (j) * HALF, c[i][j], lane)) }
// The operand that the last block has read.
#define READ_DONE(operand, turn) \
  do {                           \
    WAIT_LDS();                  \
    settle(operand, turn);       \
  } while (0)

template <typename D>
__device__ __attribute__((always_inline)) void interleave(const MxGemm &g) {
  __shared__ __attribute__((aligned(16))) Tiles a_tile, b_tile;
  __shared__ __attribute__((aligned(16))) char scales[2 * D::SCALE_BYTES];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2, wave_n = wave % 2;
  const Tile tile = map_xcd_grouped(blockIdx.y * gridDim.x + blockIdx.x,
                                    {(int)gridDim.y, (int)gridDim.x, XCDS, WINDOW, CHUNK});
  const int row = tile.row * (2 * HALF), column = tile.col * (2 * HALF);
  const D d(g, row, column, a_tile, b_tile, scales, wave, lane, wave_m * (HALF / 2), wave_n * (HALF / 2));
  const int mine = row + wave_m * (HALF / 2), here = column + wave_n * (HALF / 2);
  Operand a[2], b[2];
  f32x4 c[2][2][TILES][TILES] = {};

  d.fetch_scales(0, 0);
  d.fetch_half(d.into_a(0, 0, 0));
  d.fetch_half(d.into_b(0, 0, 0));
  d.fetch_half(d.into_b(0, 1, 0));
  d.fetch_half(d.into_a(0, 1, 0));
#pragma unroll
  for (int f = 0; f < FETCHED; ++f) {  // what the turn before the first one would have fetched
    d.fetch_next(f, INTO_A(0, -1));
    d.fetch_next(f, INTO_B(0, -1));
    d.fetch_next(f, INTO_B(1, -1));
    d.fetch_next(f, INTO_A(1, -1));
  }
  WAIT_FETCHES(4, 0);  // prologue: tile 0
  BARRIER();           // prologue: by all waves
#pragma unroll
  for (int r = 0; r < READS_OF_BLOCK; ++r) {
    start<true>(a[0], FROM_A(0, 0), r);
    start<true>(b[0], FROM_B(0, 0), r);
  }
  READ_DONE(a[0], 0);

  const int turns = 2 * D::tiles_of(g);
  int turn = 0;
  // The last of these fetches zeros, from beyond K.
  for (; turn < turns - 2; ++turn) {
    WAIT_FETCHES(4, 1);  // loop: second halves of this tile
    READ_DONE(b[0], turn);
    BARRIER();  // loop: 1
    BLOCK(0, 0, b[1], FROM_B(1, turn), INTO_A(0, turn));
    READ_DONE(b[1], turn);
    BLOCK(0, 1, a[1], FROM_A(1, turn), INTO_B(0, turn));
    WAIT_FETCHES(4, 0);  // loop: first halves of the next step
    READ_DONE(a[1], turn);
    BARRIER();  // loop: 2
    d.fetch_scales(SLOT(turn - 1), BEGINS(turn));
    BLOCK(1, 0, a[0], FROM_A(0, turn + 1), INTO_B(1, turn));
    READ_DONE(a[0], turn + 1);
    BLOCK(1, 1, b[0], FROM_B(0, turn + 1), INTO_A(1, turn));
  }

  // The last tile.
  WAIT_FETCHES(0, 0);  // epilogue: second halves
  READ_DONE(b[0], 0);
  BARRIER();  // epilogue: by all waves
  d.end_of_step(a[0].scales, 0), d.end_of_step(b[0].scales, 0);
  BLOCK_READ(0, 0, b[1], FROM_B(1, turn));
  READ_DONE(b[1], 0);
  d.end_of_step(b[1].scales, 0);
  BLOCK_READ(0, 1, a[1], FROM_A(1, turn));
  READ_DONE(a[1], 0);
  d.end_of_step(a[1].scales, 0);
  BLOCK_READ(1, 0, a[0], FROM_A(0, turn + 1));
  READ_DONE(a[0], 1);
  d.end_of_step(a[0].scales, 1);
  BLOCK_READ(1, 1, b[0], FROM_B(0, turn + 1));
  READ_DONE(b[0], 1);
  d.end_of_step(b[0].scales, 1);
  BLOCK_READ(0, 0, b[1], FROM_B(1, turn + 1));
  READ_DONE(b[1], 1);
  d.end_of_step(b[1].scales, 1);
  STORE(0, 0)  // with no read in flight: the compiler copies registers here
  BLOCK_READ(0, 1, a[1], FROM_A(1, turn + 1));
  READ_DONE(a[1], 1);
  d.end_of_step(a[1].scales, 1);
  STORE(0, 1)
  BLOCK_LAST(1, 0);
  STORE(1, 0)
  BLOCK_LAST(1, 1);
  STORE(1, 1)
}

MX_GEMM(mx_interleave, 64 * WAVES, (interleave<Mx<Row, false>>(g)))
MX_GEMM(mx_interleave_shuffled, 64 * WAVES, (interleave<Mx<Row, true>>(g)))
