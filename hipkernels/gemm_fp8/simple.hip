// C = alpha A B^T + beta C without matrix instructions: one thread sums up one element of C, k by k.
//
// The products of two FP8 numbers are exact in f32, so that both kernels round alike and give the same bits.
#include "gemm.h"

// E4M3 as the architecture has it, by the conversion instruction.
__device__ inline float from_fp8(fp8 code) { return __builtin_amdgcn_cvt_f32_fp8(code, 0); }

// Straight from memory; any shape.
__device__ void one_thread(const Gemm &g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.M || column >= g.N) return;
  float sum = 0.0f;
  for (int k = 0; k < g.K; ++k)
    sum += from_fp8(g.A[(size_t)row * g.lda + k]) * from_fp8(g.B[(size_t)column * g.ldb + k]);
  finish(g, row, column, sum);
}

// Tiles of 16x16 go through the LDS, as f32; M, N and K are multiples of 16.
#define TILE 16
__device__ void tiled(const Gemm &g) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];  // [k][column]
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < g.K; k0 += TILE) {
    a_tile[y][x] = from_fp8(g.A[(size_t)row * g.lda + k0 + x]);
    b_tile[y][x] = from_fp8(g.B[(size_t)column * g.ldb + k0 + y]);
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();  // and read
  }
  finish(g, row, column, sum);
}

// The same for every shape: what lies outside of A and B counts as 0.
__device__ void guarded(const Gemm &g) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < g.K; k0 += TILE) {
    a_tile[y][x] = row < g.M && k0 + x < g.K ? from_fp8(g.A[(size_t)row * g.lda + k0 + x]) : 0.0f;
    b_tile[y][x] = column < g.N && k0 + y < g.K ? from_fp8(g.B[(size_t)column * g.ldb + k0 + y]) : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  if (row < g.M && column < g.N) finish(g, row, column, sum);
}

GEMM(naive, 256, one_thread(g))
GEMM(lds_tiled, TILE * TILE, tiled(g))
GEMM(lds_tiled_guarded, TILE * TILE, guarded(g))
