// Sparse GEMM for CDNA3 and CDNA4: four waves of 64x64, v_smfmac_f32_32x32x16_f16.
#include "tile.h"

typedef __attribute__((ext_vector_type(4))) f16 f16x4;
typedef __attribute__((ext_vector_type(8))) f16 f16x8;
typedef __attribute__((ext_vector_type(16))) float f32x16;
#define TILES 2  // 32x32 each way

// A lane has row lane % 32 of A and of B: of 16 of K the kept elements 4 h to 4 h + 3 and K 8 h to 8 h + 7, h = lane / 32.
// Their four positions are one byte of an index register; ABID selects the byte, so that one register serves four steps.
struct Wave {
  unsigned lane, half, first_m, first_n;
  const char *index;  // of the lane's first row
  unsigned row_bytes, last;
  unsigned held[2][TILES];
  f32x16 sum[TILES][TILES];

  INLINE Wave(const Problem &p, unsigned row)
      : lane(threadIdx.x % 64), half(lane / 32), first_m(threadIdx.x / 128 * 64), first_n(threadIdx.x / 64 % 2 * 64),
        index((const char *)p.Index), row_bytes(p.K / 8), last(p.M - 1), sum{} {
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      const unsigned at = row + first_m + 32 * i + lane % 32;
      rows[i] = at < last ? at : last;  // rows beyond the matrix: their results are not stored
    }
  }
  unsigned rows[TILES];

  // Bytes h, 2 + h, 4 + h, 6 + h of the row's eight: the steps of a tile in turn.
  INLINE void start_index(int slot, int k) {
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      const words2 row = *(const words2 *)(index + rows[i] * (size_t)row_bytes + k / 8);
      held[slot][i] = __builtin_amdgcn_perm(row[1], row[0], half ? 0x07050301 : 0x06040200);
    }
  }
  template <int STEP>
  INLINE void step(const Tile &tile, int slot) {
    f16x4 a[TILES];
    f16x8 b[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      a[i] = *(const f16x4 *)(tile.kept + kept_place(first_m + 32 * i + lane % 32, 2 * STEP + half));
      b[i] = *(const f16x8 *)(tile.b + b_place(first_n + 32 * i + lane % 32, 2 * STEP + half));
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int j = 0; j < TILES; ++j)
        sum[i][j] = __builtin_amdgcn_smfmac_f32_32x32x16_f16(a[i], b[j], sum[i][j], held[slot][i], 0, STEP);
  }
  INLINE void multiply(const Tile &tile, int slot) {
    step<0>(tile, slot);
    step<1>(tile, slot);
    step<2>(tile, slot);
    step<3>(tile, slot);
  }
  INLINE void store(const Problem &p, unsigned row, unsigned column) const {
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        const unsigned at = row + first_m + 32 * i + 8 * (r / 4) + 4 * half + r % 4;
        if (at <= last)
#pragma unroll
          for (int j = 0; j < TILES; ++j)
            p.C[(size_t)at * p.N + column + first_n + 32 * j + lane % 32] = sum[i][j][r];
      }
  }
};

extern "C" __global__ void __launch_bounds__(256)
    sparse_gemm(const f16 *Kept, const unsigned *Index, const f16 *B, float *C, int M, int N, int K) {
  __shared__ __attribute__((aligned(16))) Tile tile[2];
  const Problem p{Kept, Index, B, C, M, N, K};
  Wave wave(p, blockIdx.y * SIDE);
  product<256>(p, tile, wave);
  wave.store(p, blockIdx.y * SIDE, blockIdx.x * SIDE);
}
