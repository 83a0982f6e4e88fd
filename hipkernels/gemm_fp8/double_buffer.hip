// Two slots in the LDS for each operand: while one tile of K is multiplied, the next one is on its way.
//
// Four waves, two by two, compute 64x64 of C, each 32x32. M and N are multiples of 64, K of 128; one tile of K will do.
#include "tile.h"

#define WAVES 4
#define BLOCK 64

template <typename S>
__device__ void double_buffer(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[2][BLOCK * TILE_K], b_tile[2][BLOCK * TILE_K];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 32, wave_n = wave % 2 * 32;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
  const auto a_rows = rows_of(g.A, row, BLOCK, g.lda, g.K), b_rows = rows_of(g.B, column, BLOCK, g.ldb, g.K);

  f32x4 sum[2][2] = {};
  fetch<S, BLOCK, WAVES>(a_tile[0], a_rows, 0, g.lda, 0, wave, lane);
  fetch<S, BLOCK, WAVES>(b_tile[0], b_rows, 0, g.ldb, 0, wave, lane);
  WAIT_DIRECT(0);  // first tile: fetched
  BARRIER();       // first tile: by all waves
  const int tiles = g.K / TILE_K;
  for (int t = 0, slot = 0; t < tiles; ++t, slot ^= 1) {
    if (t + 1 < tiles) {
      fetch<S, BLOCK, WAVES>(a_tile[slot ^ 1], a_rows, 0, g.lda, (t + 1) * TILE_K, wave, lane);
      fetch<S, BLOCK, WAVES>(b_tile[slot ^ 1], b_rows, 0, g.ldb, (t + 1) * TILE_K, wave, lane);
    }
    Fragment a[2], b[2];
    for (int i = 0; i < 2; ++i) {
      start_read<S>(a[i], a_tile[slot], wave_m + 16 * i, lane);
      start_read<S>(b[i], b_tile[slot], wave_n + 16 * i, lane);
    }
    WAIT_LDS();  // fragments
    for (int i = 0; i < 2; ++i) arrived(a[i]), arrived(b[i]);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) sum[i][j] = multiply(sum[i][j], a[i], b[j]);
    if (t + 1 < tiles) {
      WAIT_DIRECT(0);  // next tile: fetched
      BARRIER();       // next tile: by all waves, and no wave reads this one any more
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) finish_tile(g, row + wave_m + 16 * i, column + wave_n + 16 * j, sum[i][j], lane);
}

GEMM(double_buffer_none, 64 * WAVES, double_buffer<None>(g))
GEMM(double_buffer_pairs, 64 * WAVES, double_buffer<Pairs>(g))
GEMM(double_buffer_offset, 64 * WAVES, double_buffer<Offset>(g))
GEMM(double_buffer_row, 64 * WAVES, double_buffer<Row>(g))
