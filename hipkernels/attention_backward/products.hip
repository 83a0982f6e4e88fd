// The products of backward.h by themselves, so that every fragment can be followed: M rows that pass, N rows that are kept.
//
//   scores  C[m][n] = sum of A[m][d] B[n][d] over d    what S and dP are made by
//   sums    C[n][d] = sum of P[n][m] X[m][d] over m    what dV, dK and dQ are made by, with P where the weights are
#include "backward.h"

template <int D, int WHICH>
MOVES void scores(const short *A, const short *B, float *C, int M, int N) {
  __shared__ __attribute__((aligned(16))) Tiles<D, 2> tiles;
  const int lane = threadIdx.x % LANES, own = blockIdx.x * OWN + threadIdx.x / LANES * SIDE + lane % SIDE;
  Kept<D> kept;
  kept.load(B + (size_t)min(own, N - 1) * D, lane / SIDE);
  Moved<D> next;
  for (int row = 0; row < M; row += PASSING) {
    next.load(A, D, A, D, row, M - 1);
    next.factor = 0;
    __syncthreads();
    next.store(tiles);
    __syncthreads();
    for (int from = 0; from < PASSING; from += SIDE) {
      const sums s = products<D>(tiles.rows[WHICH], from, kept, lane, sums{});
      for (int r = 0; r < ROWS; ++r) {
        const int m = row + from + row_of(r, lane / SIDE);
        if (m < M && own < N) C[(size_t)m * N + own] = s[r];
      }
    }
  }
}

template <int D, int WHICH>
MOVES void weighted(const short *X, const short *P, float *C, int M, int N) {
  __shared__ __attribute__((aligned(16))) Tiles<D, 2> tiles;
  const int lane = threadIdx.x % LANES, own = blockIdx.x * OWN + threadIdx.x / LANES * SIDE + lane % SIDE;
  sums out[D / SIDE] = {};
  Moved<D> next;
  for (int row = 0; row < M; row += PASSING) {
    next.load(X, D, X, D, row, M - 1);
    next.factor = 0;
    __syncthreads();
    next.store(tiles);
    __syncthreads();
    for (int from = 0; from < PASSING; from += SIDE) {
      codes8 weights[SIDE / 16];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int m = row + from + row_of(r, lane / SIDE);
        weights[r / 8][r % 8] = m < M && own < N ? P[(size_t)own * M + m] : 0;
      }
      add<D>(out, tiles.columns[WHICH], from, weights, lane);
    }
  }
  if (own >= N) return;
  for (int c = 0; c < D / SIDE; ++c)
    for (int r = 0; r < ROWS; ++r) C[(size_t)own * D + SIDE * c + row_of(r, lane / SIDE)] = out[c][r];
}

#define PRODUCT(NAME, ...)                                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                               \
      NAME(const short *A, const short *B, float *C, int M, int N) {                                                  \
    __VA_ARGS__(A, B, C, M, N);                                                                                       \
  }
#define PRODUCTS(D)                      \
  PRODUCT(scores_0_##D, scores<D, 0>)    \
  PRODUCT(scores_1_##D, scores<D, 1>)    \
  PRODUCT(sums_0_##D, weighted<D, 0>)    \
  PRODUCT(sums_1_##D, weighted<D, 1>)
PRODUCTS(64)
PRODUCTS(128)
