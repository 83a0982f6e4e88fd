// More waves and larger tiles of C: 128x128 with 8 waves, 256x256 with 8 or 16, K in two slots of the LDS.
//
// A block of C has quadrants of 128x128; in each of them a wave has a part of its own, so that the rows of A and B that a
// wave reads for one quadrant lie together. M and N are multiples of the block, K of 128; 256x256 needs CDNA4's LDS.
#include "tile.h"

#define QUADRANT 128
#define TILE_BYTES (QUADRANT * TILE_K)

// BLOCK rows and columns of C; MxN waves, each with ROWS x COLUMNS tiles of 16x16 in every quadrant.
template <int BLOCK, int WAVES_M, int WAVES_N, typename S>
__device__ void multi_wave(const Gemm &g) {
  constexpr int WAVES = WAVES_M * WAVES_N, HALVES = BLOCK / QUADRANT;
  constexpr int ROWS = QUADRANT / WAVES_M / 16, COLUMNS = QUADRANT / WAVES_N / 16;
  __shared__ __attribute__((aligned(16))) char a_tile[2][HALVES][TILE_BYTES], b_tile[2][HALVES][TILE_BYTES];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / WAVES_N * 16 * ROWS, wave_n = wave % WAVES_N * 16 * COLUMNS;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
  const auto a_rows = rows_of(g.A, row, BLOCK, g.lda, g.K), b_rows = rows_of(g.B, column, BLOCK, g.ldb, g.K);

  f32x4 sum[HALVES][HALVES][ROWS][COLUMNS] = {};
#define FETCH(slot, k)                                                                     \
  for (int h = 0; h < HALVES; ++h) {                                                       \
    fetch<S, QUADRANT, WAVES>(a_tile[slot][h], a_rows, h * QUADRANT, g.lda, k, wave, lane); \
    fetch<S, QUADRANT, WAVES>(b_tile[slot][h], b_rows, h * QUADRANT, g.ldb, k, wave, lane); \
  }
  FETCH(0, 0);
  WAIT_DIRECT(0);  // first tile: fetched
  BARRIER();       // first tile: by all waves
  const int tiles = g.K / TILE_K;
  for (int t = 0, slot = 0; t < tiles; ++t, slot ^= 1) {
    if (t + 1 < tiles) FETCH(slot ^ 1, (t + 1) * TILE_K);
#pragma unroll
    for (int h = 0; h < HALVES; ++h) {
      Fragment a[ROWS];
      for (int i = 0; i < ROWS; ++i) start_read<S>(a[i], a_tile[slot][h], wave_m + 16 * i, lane);
#pragma unroll
      for (int n = 0; n < HALVES; ++n) {
        Fragment b[COLUMNS];
        for (int j = 0; j < COLUMNS; ++j) start_read<S>(b[j], b_tile[slot][n], wave_n + 16 * j, lane);
        WAIT_LDS();  // fragments
        for (int i = 0; i < ROWS; ++i) arrived(a[i]);
        for (int j = 0; j < COLUMNS; ++j) arrived(b[j]);
        __builtin_amdgcn_s_setprio(1);
        for (int i = 0; i < ROWS; ++i)
          for (int j = 0; j < COLUMNS; ++j) sum[h][n][i][j] = multiply(sum[h][n][i][j], a[i], b[j]);
        __builtin_amdgcn_s_setprio(0);
      }
    }
    if (t + 1 < tiles) {
      WAIT_DIRECT(0);  // next tile: fetched
      BARRIER();       // next tile: by all waves, and no wave reads this one any more
      __builtin_amdgcn_sched_barrier(0);
    }
  }
#pragma unroll
  for (int h = 0; h < HALVES; ++h)
#pragma unroll
    for (int n = 0; n < HALVES; ++n)
      for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
          finish_tile(g, row + h * QUADRANT + wave_m + 16 * i, column + n * QUADRANT + wave_n + 16 * j, sum[h][n][i][j],
                      lane);
}

GEMM(multi_wave_128x128_t512, 512, (multi_wave<128, 2, 4, Pairs>(g)))
#if defined(__gfx950__)
GEMM(multi_wave_256x256_t512, 512, (multi_wave<256, 2, 4, Pairs>(g)))
GEMM(multi_wave_256x256_t1024, 1024, (multi_wave<256, 4, 4, Pairs>(g)))
#endif
