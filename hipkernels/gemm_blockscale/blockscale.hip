// FP8 GEMM with a scale for 1x128 of A and one for 128x128 of B: B by rows through the LDS, or in AITER's order straight to
// the registers. Eight waves, two by four, compute 128x128 of C, each 64x32.
#include "tile.h"

#define WAVES_N 4
#define COLUMNS 2  // tiles of 16 columns of a wave

template <template <int, int> typename Operand>
__device__ __attribute__((always_inline)) void blockscale(const Problem &p, bf16 *C, int ldc) {
  __shared__ __attribute__((aligned(16))) char a_tile[2][SIDE * TILE_K];
  __shared__ __attribute__((aligned(16))) char b_tile[Operand<COLUMNS, 2 * WAVES_N>::in_lds ? 2 * SIDE * TILE_K : 16];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
  const int mine = row + wave / WAVES_N * 64, here = column + wave % WAVES_N * 16 * COLUMNS, scale = blockIdx.x;
  const int first[COLUMNS] = {here, here + 16}, scale_row[COLUMNS] = {scale, scale};
  f32x4 sum[A_TILES][COLUMNS] = {};
  sums_of<Operand, WAVES_N, COLUMNS>(sum, p, p.B, p.SB, Following{row, p.M}, first, scale_row, column, wave, lane, a_tile, b_tile);
#pragma unroll
  for (int i = 0; i < A_TILES; ++i)
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      const int at = mine + 16 * i + 4 * (lane / 16) + t;
      if (at < p.M)  // rows of the last workgroup that do not exist
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) C[(size_t)at * ldc + here + 16 * j + lane % 16] = to_bf16(sum[i][j][t]);
    }
}

#define KERNEL(NAME, OPERAND)                                                                                       \
  extern "C" __global__ void __launch_bounds__(128 * WAVES_N)                                                                 \
      NAME(const fp8 *A, const fp8 *B, const float *SA, const float *SB, bf16 *C, int M, int N, int K, int lda,     \
           int ldc) {                                                                                               \
    blockscale<OPERAND>({A, B, SA, SB, M, N, K, lda}, C, ldc);                                                      \
  }
KERNEL(blockscale_rows, ByRows)
KERNEL(blockscale_shuffled, Shuffled)
