// Any M, N and K, any strides and addresses: what lies outside of the matrices is loaded as 0 and not stored.
//
// Four waves, two by two, compute 64x64 of C. The next tile of K is loaded to registers while this one is multiplied, then
// stored in the other slot of the LDS. Buffer resources drop what a lane must not touch: it names an offset beyond them.
#include "tile.h"

#define WAVES 4
#define BLOCK 64
#define CHUNKS (BLOCK * TILE_K / 16 / (64 * WAVES))  // 16 bytes each, per thread and matrix
#define OUTSIDE 0x80000000u

// Rows of A or B that the block reads.
struct Rows {
  __amdgpu_buffer_rsrc_t source;
  int rows, ld, K;
  bool wide;  // 16 bytes at a time are aligned
};

__device__ inline Rows rows_from(const fp8 *matrix, int first, int all, int ld, int K) {
  const int rows = min(BLOCK, all - first);
  const bool wide = (((__UINTPTR_TYPE__)matrix | (unsigned)ld) % 16) == 0;
  return {rows_of(matrix, first, rows, ld, K), rows, ld, K, wide};
}

__device__ inline void load_chunks(words4 (&chunks)[CHUNKS], const Rows &from, int k0) {
#pragma unroll
  for (int n = 0; n < CHUNKS; ++n) {
    const int place = threadIdx.x + n * 64 * WAVES, row = place / 8, k = k0 + place % 8 * 16;
    const unsigned offset = row * from.ld + k;
    if (from.wide && k0 + TILE_K <= from.K) {
      chunks[n] = __builtin_amdgcn_raw_buffer_load_b128(from.source, row < from.rows ? offset : OUTSIDE, 0, 0);
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      unsigned word = 0;
      for (int j = 0; j < 4; ++j) {
        const bool inside = row < from.rows && k + 4 * i + j < from.K;
        const unsigned byte = __builtin_amdgcn_raw_buffer_load_b8(from.source, inside ? offset + 4 * i + j : OUTSIDE, 0, 0);
        word |= byte << 8 * j;
      }
      chunks[n][i] = word;
    }
  }
}

template <typename S>
__device__ void store_chunks(char *tile, const words4 (&chunks)[CHUNKS]) {
  for (int n = 0; n < CHUNKS; ++n) {
    const int place = threadIdx.x + n * 64 * WAVES;
    *reinterpret_cast<words4 *>(tile + STORE_AT(S, place / 8, place % 8 * 16)) = chunks[n];
  }
}

// As finish_tile, where a tile may reach beyond C.
__device__ inline void finish_inside(const Gemm &g, __amdgpu_buffer_rsrc_t c, int rows, int columns, int row, int column,
                                     f32x4 sum, unsigned lane) {
  column += lane % 16;
  row += 4 * (lane / 16);
  for (int t = 0; t < 4; ++t) {
    const unsigned offset = row + t < rows && column < columns ? 2 * ((row + t) * g.ldc + column) : OUTSIDE;
    float value = g.alpha * sum[t];
    if (g.beta != 0.0f) {
      const bf16 old = __builtin_amdgcn_raw_buffer_load_b16(c, offset, 0, 0);
      value = __builtin_fmaf(g.alpha, sum[t], g.beta * from_bf16(old));
    }
    __builtin_amdgcn_raw_buffer_store_b16(to_bf16(value), c, offset, 0, 0);
  }
}

template <typename S>
__device__ void any_shape(const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[2][BLOCK * TILE_K], b_tile[2][BLOCK * TILE_K];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 32, wave_n = wave % 2 * 32;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK;
  const Rows a_rows = rows_from(g.A, row, g.M, g.lda, g.K), b_rows = rows_from(g.B, column, g.N, g.ldb, g.K);

  f32x4 sum[2][2] = {};
  words4 a_next[CHUNKS], b_next[CHUNKS];
  load_chunks(a_next, a_rows, 0);
  load_chunks(b_next, b_rows, 0);
  for (int k0 = 0, slot = 0; k0 < g.K; k0 += TILE_K, slot ^= 1) {
    store_chunks<S>(a_tile[slot], a_next);
    store_chunks<S>(b_tile[slot], b_next);
    __syncthreads();  // this tile is complete; the other slot has been read by all
    if (k0 + TILE_K < g.K) {
      load_chunks(a_next, a_rows, k0 + TILE_K);
      load_chunks(b_next, b_rows, k0 + TILE_K);
    }
    Fragment a[2], b[2];
    for (int i = 0; i < 2; ++i) {
      a[i] = read<S>(a_tile[slot], wave_m + 16 * i, lane);
      b[i] = read<S>(b_tile[slot], wave_n + 16 * i, lane);
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) sum[i][j] = multiply(sum[i][j], a[i], b[j]);
  }
  const int rows = min(BLOCK, g.M - row), columns = min(BLOCK, g.N - column);
  const auto c = __builtin_amdgcn_make_buffer_rsrc(g.C + (size_t)row * g.ldc + column, 0,
                                                   2 * ((rows - 1) * g.ldc + columns), 0x27000);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      finish_inside(g, c, rows, columns, wave_m + 16 * i, wave_n + 16 * j, sum[i][j], lane);
}

GEMM(general, 64 * WAVES, any_shape<Row>(g))
