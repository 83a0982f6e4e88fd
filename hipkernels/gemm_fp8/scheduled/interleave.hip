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
#include "operands.h"

#define TILES (HALF / 2 / 16)  // fragments of a wave's half

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
  // Reads that were started before or right behind matrix instruction n of a block, at equal distances: `gaps` between
  // matrix instructions take loads; the first one is left free.
  static constexpr int started(int n, int reads, int gaps) { return n * reads / gaps; }
  // Loads to the LDS that were started before read r of a block.
  static constexpr int fetched(int r, int reads) { return r * FETCHES / reads; }
  // A quadrant is stored as soon as it is complete, while the next ones are multiplied.
  static constexpr bool stored_early = true;
};
struct StoredLast : Right {
  static constexpr bool stored_early = false;
};
// The post's order: its first gaps are printed, the later ones are those of the source beside it.
struct Printed : Right {
  static constexpr int started(int n, int reads, int) { return n <= 3 ? n : n < 2 * reads - 3 ? (n + 3) / 2 : reads; }
  static constexpr int fetched(int r, int reads) { return (r + 1) * FETCHES / reads; }
};
struct BarrierFirst : Right {
  static constexpr bool barrier_first = true;
};
struct NotAllFetched : Right {
  static constexpr bool all_have_fetched = false;
};

// c += a b^T, and between the matrix instructions: reads of the operand `next`, and loads to the LDS.
template <typename D, typename V, bool READ, bool FETCH, typename O>
MOVES void block(const D &d, f32x4 (&c)[TILES][TILES], O &a, O &b, O &next, From from, Into into) {
  constexpr int count = TILES * TILES, reads = TILES * READS, gaps = count - 2;
  FENCE();
#pragma unroll
  for (int n = 0; n < count; ++n) {
    D::product(c, a, b, n);
    FENCE();
    if (n == 0 || n > gaps) continue;
#pragma unroll
    for (int r = V::started(n - 1, reads, gaps); r < V::started(n, reads, gaps); ++r) {
      if constexpr (FETCH) {
#pragma unroll
        for (int f = V::fetched(r, reads); f < V::fetched(r + 1, reads); ++f) d.fetch_next(f, into);
      }
      if constexpr (READ) D::start(next, from, r);
      FENCE();
    }
  }
}

#define FETCH_A(slot, half, k) d.fetch_half(d.into_a(slot, half, k))
#define FETCH_B(slot, half, k) d.fetch_half(d.into_b(slot, half, k))
#define FROM_A(slot, half) d.from_a(slot, half)
#define FROM_B(slot, half) d.from_b(slot, half)
#define INTO_A(slot, half, k) d.into_a(slot, half, k)
#define INTO_B(slot, half, k) d.into_b(slot, half, k)
#define BLOCK(i, j, next, from, into) block<D, V, true, true>(d, c[i][j], a[i], b[j], next, from, into)
#define BLOCK_READ(i, j, next, from) block<D, V, true, false>(d, c[i][j], a[i], b[j], next, from, {})
#define BLOCK_LAST(i, j) block<D, V, false, false>(d, c[i][j], a[i], b[j], a[i], {}, {})
#define STORE(i, j) { FINISH(g, p, D::store(p, mine + (i) * HALF, here + (j) * HALF, c[i][j], lane)) }
// The operand that the last block has read.
#define READ_DONE(operand) \
  do {                     \
    WAIT_LDS();            \
    D::settle(operand);    \
  } while (0)

template <typename D, typename V>
__device__ __attribute__((always_inline)) void interleave(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) Tiles a_tile, b_tile;
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2, wave_n = wave % 2;
  const Tile tile = map_xcd_grouped(blockIdx.y * gridDim.x + blockIdx.x,
                                    {g.M / (2 * HALF), g.N / (2 * HALF), XCDS, WINDOW, CHUNK});
  const int row = tile.row * (2 * HALF), column = tile.col * (2 * HALF);
  const D d(g, row, column, a_tile, b_tile, nullptr, wave, lane, wave_m * (HALF / 2), wave_n * (HALF / 2));
  const int mine = row + wave_m * (HALF / 2), here = column + wave_n * (HALF / 2);
  typename D::template Operand<TILES> a[2], b[2];
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
  for (int r = 0; r < TILES * READS; ++r) {
    D::start(a[0], FROM_A(cur, 0), r);  // prologue: a0
    D::start(b[0], FROM_B(cur, 0), r);  // prologue: b0
  }

  const int last = D::tiles_of(g) - 1;
  for (int t = 0; t < last - 1; ++t, cur ^= 1, next ^= 1) {
    const int k = (t + 2) * TILE_K;
    WAIT_FETCHES(4);  // loop: second halves of this tile
    READ_DONE(b[0]);
    D::settle(a[0]);
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
  D::settle(a[0]);
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

  // The last tile.
#define STORE_IF(when, i, j) \
  if constexpr (when) STORE(i, j)
  READ_DONE(b[0]);
  BLOCK_READ(0, 0, b[1], FROM_B(next, 1));
  STORE_IF(V::stored_early, 0, 0)
  READ_DONE(b[1]);
  BLOCK_READ(0, 1, a[1], FROM_A(next, 1));
  STORE_IF(V::stored_early, 0, 1)
  READ_DONE(a[1]);
  BLOCK_LAST(1, 0);
  STORE_IF(V::stored_early, 1, 0)
  BLOCK_LAST(1, 1);
  STORE_IF(!V::stored_early, 0, 0)
  STORE_IF(!V::stored_early, 0, 1)
  STORE_IF(!V::stored_early, 1, 0)
  STORE(1, 1)
}

GEMM(interleave, 64 * WAVES, (interleave<Plain<Offset>, Right>(g)))
GEMM(interleave_row, 64 * WAVES, (interleave<Plain<Row>, Right>(g)))
GEMM(interleave_none, 64 * WAVES, (interleave<Plain<None>, Right>(g)))
GEMM(interleave_printed, 64 * WAVES, (interleave<Plain<Offset>, Printed>(g)))
GEMM(interleave_stored_last, 64 * WAVES, (interleave<Plain<Offset>, StoredLast>(g)))
GEMM(interleave_barrier_first, 64 * WAVES, (interleave<Plain<Offset>, BarrierFirst>(g)))
GEMM(interleave_not_all_fetched, 64 * WAVES, (interleave<Plain<Offset>, NotAllFetched>(g)))
