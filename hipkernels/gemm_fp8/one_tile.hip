// One 16x16 tile of C for each wave, by matrix instructions; tiles of K go through the LDS in one slot.
//
// The steps differ in how bytes come to the LDS: one at a time, 16 at a time through registers, or without registers. M
// and N are multiples of 16 (one wave) or 32 (four waves, two by two), K of 128.
#include "tile.h"

// One wave; every lane copies byte after byte.
__device__ void one_wave(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[16 * TILE_K], b_tile[16 * TILE_K];
  const unsigned lane = threadIdx.x;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  f32x4 sum = {};
  for (int k0 = 0; k0 < g.K; k0 += TILE_K) {
    for (unsigned n = lane; n < 16 * TILE_K; n += 64) {
      const unsigned r = n / TILE_K, k = n % TILE_K;
      a_tile[n] = g.A[(size_t)(row + r) * g.lda + k0 + k];
      b_tile[n] = g.B[(size_t)(column + r) * g.ldb + k0 + k];
    }
    __syncthreads();  // one wave: complete
    sum = multiply(sum, read<None>(a_tile, 0, lane), read<None>(b_tile, 0, lane));
    __syncthreads();  // one wave: read
  }
  finish_tile(g, row, column, sum, lane);
}

#define WAVES 4
#define BLOCK 32

// 16 bytes a lane, through registers.
template <typename S>
__device__ void store_rows(char *tile, const fp8 *from, int ld) {
  for (unsigned n = threadIdx.x; n < BLOCK * TILE_K / 16; n += 64 * WAVES) {
    const unsigned row = n / 8, column = n % 8 * 16;
    *reinterpret_cast<words4 *>(tile + STORE_AT(S, row, column)) =
        *reinterpret_cast<const words4 *>(from + (size_t)row * ld + column);
  }
}

template <typename S>
__device__ void vectorised(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[BLOCK * TILE_K], b_tile[BLOCK * TILE_K];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 16, wave_n = wave % 2 * 16;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
  f32x4 sum = {};
  for (int k0 = 0; k0 < g.K; k0 += TILE_K) {
    store_rows<S>(a_tile, g.A + (size_t)row * g.lda + k0, g.lda);
    store_rows<S>(b_tile, g.B + (size_t)column * g.ldb + k0, g.ldb);
    __syncthreads();  // vectorised: complete
    sum = multiply(sum, read<S>(a_tile, wave_m, lane), read<S>(b_tile, wave_n, lane));
    __syncthreads();  // vectorised: read
  }
  finish_tile(g, row + wave_m, column + wave_n, sum, lane);
}

template <typename S>
__device__ void direct(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[BLOCK * TILE_K], b_tile[BLOCK * TILE_K];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 16, wave_n = wave % 2 * 16;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
  const auto a_rows = rows_of(g.A, row, BLOCK, g.lda, g.K), b_rows = rows_of(g.B, column, BLOCK, g.ldb, g.K);
  f32x4 sum = {};
  for (int k0 = 0; k0 < g.K; k0 += TILE_K) {
    fetch<S, BLOCK, WAVES>(a_tile, a_rows, 0, g.lda, k0, wave, lane);
    fetch<S, BLOCK, WAVES>(b_tile, b_rows, 0, g.ldb, k0, wave, lane);
    WAIT_DIRECT(0);  // direct: fetched
    BARRIER();       // direct: by all waves
    Fragment a, b;
    start_read<S>(a, a_tile, wave_m, lane);
    start_read<S>(b, b_tile, wave_n, lane);
    WAIT_LDS();  // direct: fragments
    arrived(a);
    arrived(b);
    BARRIER();  // direct: read by all waves
    sum = multiply(sum, a, b);
  }
  finish_tile(g, row + wave_m, column + wave_n, sum, lane);
}

GEMM(one_wave_tile, 64, one_wave(g))
GEMM(vectorised_none, 64 * WAVES, vectorised<None>(g))
GEMM(vectorised_pairs, 64 * WAVES, vectorised<Pairs>(g))
GEMM(direct_none, 64 * WAVES, direct<None>(g))
GEMM(direct_pairs, 64 * WAVES, direct<Pairs>(g))
GEMM(direct_offset, 64 * WAVES, direct<Offset>(g))
GEMM(direct_row, 64 * WAVES, direct<Row>(g))
