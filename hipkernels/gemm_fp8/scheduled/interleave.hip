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
  // Reads that were started before or right behind matrix instruction n of a block, at equal distances.
  static constexpr int started(int n) { return n * READS / SLOTS; }
  // Loads to the LDS that were started before read r of a block.
  static constexpr int fetched(int r) { return r * FETCHES / READS; }
  // A quadrant is stored as soon as it is complete, while the next ones are multiplied.
  static constexpr bool stored_early = true;
};
struct StoredLast : Right {
  static constexpr bool stored_early = false;
};
// The post's order: its first gaps are printed, the later ones are those of the source beside it.
struct Printed : Right {
  static constexpr int started(int n) { return n <= 3 ? n : n < 2 * READS - 3 ? (n + 3) / 2 : READS; }
  static constexpr int fetched(int r) { return (r + 1) * FETCHES / READS; }
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

// Where operands come from: the lane's address for each half of the K of a fragment's first row. Sixteen rows further down is
// a constant further on, in every swizzle: a register for each fragment's address would leave too few for the rest.
struct From {
  unsigned at[2];
};
template <typename S>
MOVES From lane_part(const char *tile, unsigned row, unsigned lane) {
  const unsigned first = row + lane % 16, column = lane / 16 * 16;
  return {{LDS_ADDRESS(tile + READ_AT(S, first, column)), LDS_ADDRESS(tile + READ_AT(S, first, 64 + column))}};
}
MOVES From within(From lane, unsigned slot, unsigned half) {
  const unsigned start = (2 * slot + half) * HALF * TILE_K;
  return {{lane.at[0] + start, lane.at[1] + start}};
}
// Start to read half of fragment `number`; lgkmcnt rises by 1.
MOVES void start_half_of(words4 &to, unsigned at, int number) {
  asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(to) : "v"(at), "i"(number * 16 * TILE_K) : "memory");
}
MOVES void start_both(Fragment &f, From from, int number) {
  start_half_of(f.low, from.at[0], number);
  start_half_of(f.high, from.at[1], number);
}
// What is fetched: a half in the LDS, the matrix, the lane's byte in it, the first of the rows, and the byte of K.
struct Into {
  char *half;
  __amdgpu_buffer_rsrc_t matrix;
  unsigned lane;
  int first, ld, k;
};
// Rows from one load of a wave to the next. A multiple of 16 changes no swizzle: the lane's byte is the same for all loads,
// and a scalar has the rest.
#define STEP (WAVES * 64 * DIRECT_BYTES / TILE_K)
template <typename S>
MOVES unsigned lane_byte(int ld, unsigned wave, unsigned lane) {
  const unsigned place = wave * 64 * DIRECT_BYTES + lane * DIRECT_BYTES, row = place / TILE_K;
  return row * ld + FETCH_COLUMN(S, row, place % TILE_K);
}
template <typename S>
MOVES void fetch_next(unsigned n, const Into &into, unsigned wave, unsigned lane) {
  if constexpr (STEP % 16 != 0)
    fetch_one<S, HALF, WAVES>(n, into.half, into.matrix, into.first, into.ld, into.k, wave, lane);
  else
    __builtin_amdgcn_raw_ptr_buffer_load_lds(into.matrix,
                                             (mfmasim_lds_void *)(into.half + (n * WAVES + wave) * 64 * DIRECT_BYTES),
                                             DIRECT_BYTES, into.lane, (into.first + n * STEP) * into.ld + into.k, 0, 0);
}

template <typename S>
MOVES void fetch_half(const Into &into, unsigned wave, unsigned lane) {
#pragma unroll
  for (unsigned n = 0; n < FETCHES; ++n) fetch_next<S>(n, into, wave, lane);
}

// c += a b^T, and between the matrix instructions: reads of the fragments `next`, and loads to the LDS.
template <typename S, typename V, bool READ, bool FETCH>
MOVES void block(f32x4 (&c)[TILES][TILES], Fragment (&a)[TILES], Fragment (&b)[TILES], Fragment (&next)[TILES], From from,
                 Into into, unsigned wave, unsigned lane) {
  FENCE();
#pragma unroll
  for (int n = 0; n < TILES * TILES; ++n) {
    c[n / TILES][n % TILES] = multiply(c[n / TILES][n % TILES], a[n / TILES], b[n % TILES]);
    FENCE();
    if (n == 0 || n > SLOTS) continue;
#pragma unroll
    for (int r = V::started(n - 1); r < V::started(n); ++r) {
      if constexpr (FETCH) {
#pragma unroll
        for (int f = V::fetched(r); f < V::fetched(r + 1); ++f)
          fetch_next<S>(f, into, wave, lane);
      }
      if constexpr (READ) start_half_of(r % 2 ? next[r / 2].high : next[r / 2].low, from.at[r % 2], r / 2);
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

#define FETCH_A(slot, half, k) fetch_half<S>(INTO_A(slot, half, k), wave, lane)
#define FETCH_B(slot, half, k) fetch_half<S>(INTO_B(slot, half, k), wave, lane)
#define FROM_A(slot, half) within(a_lane, slot, half)
#define FROM_B(slot, half) within(b_lane, slot, half)
#define INTO_A(slot, half, k) Into{a_tile[slot][half], a_rows, a_byte, (half) * HALF, g.lda, k}
#define INTO_B(slot, half, k) Into{b_tile[slot][half], b_rows, b_byte, (half) * HALF, g.ldb, k}
#define BLOCK(i, j, next, from, into) block<S, V, true, true>(c[i][j], a[i], b[j], next, from, into, wave, lane)
#define BLOCK_READ(i, j, next, from) block<S, V, true, false>(c[i][j], a[i], b[j], next, from, {}, wave, lane)
#define BLOCK_LAST(i, j) block<S, V, false, false>(c[i][j], a[i], b[j], a[i], {}, {}, wave, lane)
#define STORE(i, j) { FINISH(g, p, store(p, mine + (i) * HALF, here + (j) * HALF, c[i][j], lane)) }
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
  const From a_lane = lane_part<S>(a_tile[0][0], wave_m * (HALF / 2), lane);
  const unsigned a_byte = lane_byte<S>(g.lda, wave, lane), b_byte = lane_byte<S>(g.ldb, wave, lane);
  const From b_lane = lane_part<S>(b_tile[0][0], wave_n * (HALF / 2), lane);

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
    start_both(a[0][i], a_lane, i);  // prologue: a0
    start_both(b[0][i], b_lane, i);  // prologue: b0
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

GEMM(interleave, 64 * WAVES, (interleave<Offset, Right>(g)))
GEMM(interleave_row, 64 * WAVES, (interleave<Row, Right>(g)))
GEMM(interleave_none, 64 * WAVES, (interleave<None, Right>(g)))
GEMM(interleave_printed, 64 * WAVES, (interleave<Offset, Printed>(g)))
GEMM(interleave_stored_last, 64 * WAVES, (interleave<Offset, StoredLast>(g)))
GEMM(interleave_barrier_first, 64 * WAVES, (interleave<Offset, BarrierFirst>(g)))
GEMM(interleave_not_all_fetched, 64 * WAVES, (interleave<Offset, NotAllFetched>(g)))
