// 4-wave interleave: one wave a SIMD, which itself mixes matrix instructions with the loads for those to come.
//
// A workgroup of 4 waves, 2 x 2, computes four quadrants of C; a wave has 64x64 of each (32x32 on gfx942, whose LDS is
// smaller). A and B have two slots in the LDS, each in two halves of HALF rows and 128 of K. In one block a quadrant is
// multiplied while the operand for the next block is read from the LDS and the half that was read two blocks ago is fetched
// anew, for the tile after next. At least two tiles of K: both slots are filled without asking whether there is a second.
#include "../../grid_maps/maps.h"
#include "../tile.h"

#if defined(__gfx950__)
#define HALF 128
#else
#define HALF 64
#endif
#define WAVES 4
#define FETCHES DIRECT_LOADS(HALF, WAVES)  // of one wave for a half: by so much vmcnt rises
#define TILES (HALF / 2 / 16)              // fragments of a wave's half
#define READS (2 * TILES)                  // ds_read_b128 of them: by so much lgkmcnt rises
#define SLOTS (TILES * TILES - 2)          // places between matrix instructions that take loads; the first is left free

#define XCDS 8
#define WINDOW 4
#define CHUNK 8

#define WAIT_FETCHES(halves) asm volatile("s_waitcnt vmcnt(%0)" ::"n"((halves) * FETCHES) : "memory")
#define FENCE() __builtin_amdgcn_sched_barrier(0)  // the compiler moves nothing across

struct Right {
  // Reads are waited for before the barrier that lets others overwrite what was read.
  static constexpr bool barrier_first = false;
  // What all waves have fetched is waited for by all of them before any reads it.
  static constexpr bool all_have_fetched = true;
};
struct BarrierFirst : Right {
  static constexpr bool barrier_first = true;
};
struct NotAllFetched : Right {
  static constexpr bool all_have_fetched = false;
};

MOVES void settle(Fragment (&f)[TILES]) {
#pragma unroll
  for (int i = 0; i < TILES; ++i) arrived(f[i]);
}

// Where operands come from: a half in the LDS, and the first of the wave's rows in it.
struct From {
  const char *half;
  unsigned row;
};
// What is fetched: a half in the LDS, the matrix, the first of its rows, and the byte of K.
struct Into {
  char *half;
  __amdgpu_buffer_rsrc_t matrix;
  int first, ld, k;
};

// c += a b^T, and between the matrix instructions: reads of the fragments `next`, and loads to the LDS.
template <typename S, bool READ, bool FETCH>
MOVES void block(f32x4 (&c)[TILES][TILES], Fragment (&a)[TILES], Fragment (&b)[TILES], Fragment (&next)[TILES], From from,
                 Into into, unsigned wave, unsigned lane) {
  FENCE();
#pragma unroll
  for (int n = 0; n < TILES * TILES; ++n) {
    c[n / TILES][n % TILES] = multiply(c[n / TILES][n % TILES], a[n / TILES], b[n % TILES]);
    FENCE();
    if (n == 0 || n > SLOTS) continue;
#pragma unroll
    for (int r = (n - 1) * READS / SLOTS; r < n * READS / SLOTS; ++r) {
      if constexpr (FETCH) {
#pragma unroll
        for (int f = r * FETCHES / READS; f < (r + 1) * FETCHES / READS; ++f)
          fetch_one<S, HALF, WAVES>(f, into.half, into.matrix, into.first, into.ld, into.k, wave, lane);
      }
      if constexpr (READ) start_half<S>(r % 2 ? next[r / 2].high : next[r / 2].low, from.half, from.row + r / 2 * 16, r % 2 * 64, lane);
      FENCE();
    }
  }
}

MOVES void store(const Gemm &g, int row, int column, f32x4 (&c)[TILES][TILES], unsigned lane) {
#pragma unroll
  for (int i = 0; i < TILES; ++i)
#pragma unroll
    for (int j = 0; j < TILES; ++j) finish_tile(g, row + 16 * i, column + 16 * j, c[i][j], lane);
}

#define FETCH_A(slot, half, k) fetch<S, HALF, WAVES>(a_tile[slot][half], a_rows, (half) * HALF, g.lda, k, wave, lane)
#define FETCH_B(slot, half, k) fetch<S, HALF, WAVES>(b_tile[slot][half], b_rows, (half) * HALF, g.ldb, k, wave, lane)
#define FROM_A(slot, half) From{a_tile[slot][half], wave_m * (HALF / 2)}
#define FROM_B(slot, half) From{b_tile[slot][half], wave_n * (HALF / 2)}
#define INTO_A(slot, half, k) Into{a_tile[slot][half], a_rows, (half) * HALF, g.lda, k}
#define INTO_B(slot, half, k) Into{b_tile[slot][half], b_rows, (half) * HALF, g.ldb, k}
#define BLOCK(i, j, next, from, into) block<S, true, true>(c[i][j], a[i], b[j], next, from, into, wave, lane)
#define BLOCK_READ(i, j, next, from) block<S, true, false>(c[i][j], a[i], b[j], next, from, {}, wave, lane)
#define BLOCK_LAST(i, j) block<S, false, false>(c[i][j], a[i], b[j], a[i], {}, {}, wave, lane)
#define STORE(i, j) FINISH(g, p, store(p, mine + (i) * HALF, here + (j) * HALF, c[i][j], lane))
// The operand that the last block has read.
#define READ_DONE(operand) \
  do {                     \
    WAIT_LDS();            \
    settle(operand);       \
  } while (0)

template <typename S, typename V>
__device__ __attribute__((always_inline)) void interleave(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[2][2][HALF * TILE_K], b_tile[2][2][HALF * TILE_K];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2, wave_n = wave % 2;
  const Tile tile = map_xcd_grouped(blockIdx.y * gridDim.x + blockIdx.x,
                                    {g.M / (2 * HALF), g.N / (2 * HALF), XCDS, WINDOW, CHUNK});
  const int row = tile.row * (2 * HALF), column = tile.col * (2 * HALF);
  const auto a_rows = rows_of(g.A, row, 2 * HALF, g.lda, g.K), b_rows = rows_of(g.B, column, 2 * HALF, g.ldb, g.K);
  const int mine = row + wave_m * (HALF / 2), here = column + wave_n * (HALF / 2);
  Fragment a[2][TILES], b[2][TILES];
  f32x4 c[2][2][TILES][TILES] = {};
  int cur = 0, next = 1;

  FETCH_A(cur, 0, 0);  // prologue: first half of A
  FETCH_B(cur, 0, 0);  // prologue: first half of B
  FETCH_B(cur, 1, 0);
  FETCH_A(cur, 1, 0);
  FETCH_A(next, 0, TILE_K);
  FETCH_B(next, 0, TILE_K);
  FETCH_B(next, 1, TILE_K);
  FETCH_A(next, 1, TILE_K);
  WAIT_FETCHES(6);  // prologue: the first halves of tile 0
  if constexpr (V::all_have_fetched) BARRIER();
#pragma unroll
  for (int i = 0; i < TILES; ++i) {
    start_read<S>(a[0][i], a_tile[cur][0], wave_m * (HALF / 2) + 16 * i, lane);  // prologue: a0
    start_read<S>(b[0][i], b_tile[cur][0], wave_n * (HALF / 2) + 16 * i, lane);  // prologue: b0
  }

  const int last = g.K / TILE_K - 1;
  for (int t = 0; t < last - 1; ++t, cur ^= 1, next ^= 1) {
    const int k = (t + 2) * TILE_K;
    WAIT_FETCHES(4);  // loop: second halves of this tile
    READ_DONE(b[0]);
    settle(a[0]);
    BARRIER();  // loop: 1
    BLOCK(0, 0, b[1], FROM_B(cur, 1), INTO_A(cur, 0, k));   // loop: c00
    READ_DONE(b[1]);
    BLOCK(0, 1, a[1], FROM_A(cur, 1), INTO_B(cur, 0, k));   // loop: c01
    WAIT_FETCHES(4);  // loop: first halves of the next tile
    if constexpr (V::barrier_first) BARRIER();
    READ_DONE(a[1]);
    if constexpr (!V::barrier_first) BARRIER();  // loop: 2
    BLOCK(1, 0, a[0], FROM_A(next, 0), INTO_B(cur, 1, k));  // loop: c10
    READ_DONE(a[0]);
    BLOCK(1, 1, b[0], FROM_B(next, 0), INTO_A(cur, 1, k));  // loop: c11
  }

  // The last tile but one: nothing is left to fetch.
  WAIT_FETCHES(4);
  READ_DONE(b[0]);
  settle(a[0]);
  BARRIER();
  BLOCK_READ(0, 0, b[1], FROM_B(cur, 1));
  READ_DONE(b[1]);
  BLOCK_READ(0, 1, a[1], FROM_A(cur, 1));
  WAIT_FETCHES(0);  // epilogue: all of the last tile
  READ_DONE(a[1]);
  BARRIER();  // epilogue: by all waves
  BLOCK_READ(1, 0, a[0], FROM_A(next, 0));
  READ_DONE(a[0]);
  BLOCK_READ(1, 1, b[0], FROM_B(next, 0));

  // The last tile: a quadrant is stored as soon as it is complete.
  READ_DONE(b[0]);
  BLOCK_READ(0, 0, b[1], FROM_B(next, 1));
  STORE(0, 0)
  READ_DONE(b[1]);
  BLOCK_READ(0, 1, a[1], FROM_A(next, 1));
  STORE(0, 1)
  READ_DONE(a[1]);
  BLOCK_LAST(1, 0);
  STORE(1, 0)
  BLOCK_LAST(1, 1);
  STORE(1, 1)
}

GEMM(interleave, 64 * WAVES, (interleave<Offset, Right>(g)))
GEMM(interleave_row, 64 * WAVES, (interleave<Row, Right>(g)))
GEMM(interleave_none, 64 * WAVES, (interleave<None, Right>(g)))
GEMM(interleave_barrier_first, 64 * WAVES, (interleave<Offset, BarrierFirst>(g)))
GEMM(interleave_not_all_fetched, 64 * WAVES, (interleave<Offset, NotAllFetched>(g)))
