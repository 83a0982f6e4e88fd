// Sparse GEMM for RDNA4: eight waves of 64x32, v_swmmac_f32_16x16x32_f16 in wave32.
#include "tile.h"

typedef __attribute__((ext_vector_type(8))) f16 f16x8;
typedef __attribute__((ext_vector_type(16))) f16 f16x16;
typedef __attribute__((ext_vector_type(8))) float f32x8;
#define A_TILES 4  // of 16 rows
#define B_TILES 2  // of 16 columns

// A lane has row lane % 16 of A and of B: of 32 of K the kept elements 4 h to 4 h + 3 and 8 + 4 h to 8 + 4 h + 3, and K 8 h
// to 8 h + 7 and 16 + 8 h to 16 + 8 h + 7, h = lane / 16. Their eight positions are half an index register; the last
// operand selects the half, so that one register serves both steps of a tile.
struct Wave {
  unsigned lane, half, first_m, first_n;
  const char *index;
  unsigned row_bytes, last;
  unsigned rows[A_TILES], held[2][A_TILES];
  f32x8 sum[A_TILES][B_TILES];

  INLINE Wave(const Problem &p, unsigned row)
      : lane(threadIdx.x % 32), half(lane / 16), first_m(threadIdx.x / 128 * 64), first_n(threadIdx.x / 32 % 4 * 32),
        index((const char *)p.Index), row_bytes(p.K / 8), last(p.M - 1), sum{} {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i) {
      const unsigned at = row + first_m + 16 * i + lane % 16;
      rows[i] = at < last ? at : last;  // rows beyond the matrix: their results are not stored
    }
  }
  // Bytes h, 2 + h, 4 + h, 6 + h of the row's eight: the first two are those of the first step.
  INLINE void start_index(int slot, int k) {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i) {
      const words2 row = *(const words2 *)(index + rows[i] * (size_t)row_bytes + k / 8);
      held[slot][i] = __builtin_amdgcn_perm(row[1], row[0], half ? 0x07050301 : 0x06040200);
    }
  }
  template <int STEP>
  INLINE void step(const Tile &tile, int slot) {
    f16x8 a[A_TILES];
    f16x16 b[B_TILES];
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int part = 0; part < 2; ++part)
        ((words2 *)&a[i])[part] =
            *(const words2 *)(tile.kept + kept_place(first_m + 16 * i + lane % 16, 4 * STEP + 2 * part + half));
#pragma unroll
    for (int j = 0; j < B_TILES; ++j)
#pragma unroll
      for (int part = 0; part < 2; ++part)
        ((words4 *)&b[j])[part] =
            *(const words4 *)(tile.b + b_place(first_n + 16 * j + lane % 16, 4 * STEP + 2 * part + half));
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int j = 0; j < B_TILES; ++j)
        sum[i][j] =
            __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(a[i], b[j], sum[i][j], (short)(held[slot][i] >> 16 * STEP));
  }
  INLINE void multiply(const Tile &tile, int slot) {
    step<0>(tile, slot);
    step<1>(tile, slot);
  }
  INLINE void store(const Problem &p, unsigned row, unsigned column) const {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        const unsigned at = row + first_m + 16 * i + 8 * half + r;
        if (at <= last)
#pragma unroll
          for (int j = 0; j < B_TILES; ++j)
            p.C[(size_t)at * p.N + column + first_n + 16 * j + lane % 16] = sum[i][j][r];
      }
  }
};

extern "C" __global__ void __launch_bounds__(256)
    sparse_wave32(const f16 *Kept, const unsigned *Index, const f16 *B, float *C, int M, int N, int K) {
  __shared__ __attribute__((aligned(16))) Tile tile[2];
  const Problem p{Kept, Index, B, C, M, N, K};
  Wave wave(p, blockIdx.y * SIDE);
  product<256>(p, tile, wave);
  wave.store(p, blockIdx.y * SIDE, blockIdx.x * SIDE);
}
