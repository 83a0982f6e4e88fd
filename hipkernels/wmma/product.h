// C = A B with A [M,K], B [K,N] in f16 and C [M,N] in f32, all row-major: what the variants share.
#pragma once
#include "tile.h"

// One wave's tiles of C, and what it reads of a tile of K.
template <class Block, class Place>
struct Part {
  int lane = threadIdx.x % 32, wave = threadIdx.x / 32;
  int m = wave / Block::across * 16 * Block::tiles_m, n = wave % Block::across * 16 * Block::tiles_n;
  f32x8 sum[Block::tiles_m][Block::tiles_n] = {};

  __device__ fragment a(const f16 *lds, int i, int k) const {
    return read_line<Place::wide>(lds, [=](int e) { return Place::at(Block::rows, m + 16 * i + lane % 16, k + e); }, lane);
  }
  __device__ fragment b(const f16 *lds, int j, int k) const {
    return read_line<Place::wide>(lds, [=](int e) { return Place::at(Block::columns, n + 16 * j + lane % 16, k + e); }, lane);
  }
  __device__ void multiply_tile(const f16 *a_lds, const f16 *b_lds) {
#pragma unroll
    for (int k = 0; k < Place::k; k += 16) {
      fragment x[Block::tiles_m], y[Block::tiles_n];
#pragma unroll
      for (int i = 0; i < Block::tiles_m; ++i) x[i] = a(a_lds, i, k);
#pragma unroll
      for (int j = 0; j < Block::tiles_n; ++j) y[j] = b(b_lds, j, k);
#pragma unroll
      for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
        for (int j = 0; j < Block::tiles_n; ++j) sum[i][j] = multiply(x[i], y[j], sum[i][j]);
    }
  }
  __device__ void finish(const Gemm &g, int row, int column) const {
#pragma unroll
    for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < Block::tiles_n; ++j)
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          const int y = row + m + 16 * i + row_of(r, lane), x = column + n + 16 * j + column_of(lane);
          if (y < g.M && x < g.N) g.C[(size_t)y * g.ldc + x] = sum[i][j][r];
        }
  }
};

// What the variants have of their own: where a workgroup's tile begins, and how it leaves it. Both are chosen by the
// type of the problem, which is a `Gemm` with another name.
struct Corner {
  int row, column;
};
template <class Block>
__device__ Corner corner_of(const Gemm &) {
  return {(int)blockIdx.y * Block::rows, (int)blockIdx.x * Block::columns};
}
template <class Block, class Place>
__device__ void finish(const Gemm &g, const Part<Block, Place> &part, int row, int column) {
  part.finish(g, row, column);
}

#define TILES_IN_LDS(SLOTS)                                                           \
  __shared__ __attribute__((aligned(16))) f16 a_lds[SLOTS][Place::size(Block::rows)], \
      b_lds[SLOTS][Place::size(Block::columns)];                                      \
  const auto [row, column] = corner_of<Block>(g);                                     \
  Mover next;                                                                         \
  Part<Block, Place> part

// Two slots; the next tile is on its way to registers while this one is multiplied.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void ahead(const Problem &g) {
  TILES_IN_LDS(2);
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  __syncthreads();  // first tile
  for (int k = 0, slot = 0; k < g.K; k += Place::k, slot ^= 1) {
    const bool more = k + Place::k < g.K;
    if (more) {
      next.fetch_a(g, row, k + Place::k);
      next.fetch_b(g, k + Place::k, column);
    }
    part.multiply_tile(a_lds[slot], b_lds[slot]);
    if (more) {
      next.store(a_lds[slot ^ 1], b_lds[slot ^ 1]);
      __syncthreads();  // next tile
    }
  }
  finish(g, part, row, column);
}

// One slot.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void one_slot(const Problem &g) {
  TILES_IN_LDS(1);
  for (int k = 0; k < g.K; k += Place::k) {
    next.fetch_a(g, row, k);
    next.fetch_b(g, k, column);
    next.store(a_lds[0], b_lds[0]);
    __syncthreads();  // stored
    part.multiply_tile(a_lds[0], b_lds[0]);
    __syncthreads();  // read
  }
  finish(g, part, row, column);
}

// As `ahead`, but the kernel says itself what it waits for, fetches between the products, and hints at the tile after next,
// for which RDNA3 has no instruction.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void native(const Problem &g) {
  TILES_IN_LDS(2);
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  SYNC();  // first tile
  for (int k = 0, slot = 0; k < g.K; k += Place::k, slot ^= 1) {
    const bool more = k + Place::k < g.K;
    fragment x[Block::tiles_m], y[Block::tiles_n];
    for (int i = 0; i < Block::tiles_m; ++i) x[i] = part.a(a_lds[slot], i, 0);
    for (int j = 0; j < Block::tiles_n; ++j) y[j] = part.b(b_lds[slot], j, 0);
    WAIT_LDS();  // fragments
#pragma unroll
    for (int i = 0; i < Block::tiles_m; ++i) {
      if (more && i == 0) {
        next.fetch_a(g, row, k + Place::k);
        __builtin_prefetch(g.A + (size_t)row * g.lda + k + 2 * Place::k);
        __builtin_prefetch(g.B + (size_t)(k + 2 * Place::k) * g.ldb + column);
      }
      if (more && i == 1) next.fetch_b(g, k + Place::k, column);
#pragma unroll
      for (int j = 0; j < Block::tiles_n; ++j) part.sum[i][j] = multiply(x[i], y[j], part.sum[i][j]);
    }
    if (more) {
      next.store(a_lds[slot ^ 1], b_lds[slot ^ 1]);
      SYNC();  // next tile
    }
  }
  finish(g, part, row, column);
}

// A kernel NAME that computes BLOCK = Waves<...> with `HOW`, an instance of the functions above; PROBLEM is a `Gemm`.
#define KERNEL_OF(NAME, THREADS, PROBLEM, ...)                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS)                                            \
      NAME(const f16 *A, const f16 *B, float *C, int M, int N, int K, int lda, int ldb, int ldc) { \
    const PROBLEM g{{A, B, C, M, N, K, lda, ldb, ldc}};                                            \
    __VA_ARGS__(g);                                                                                \
  }
struct Plain : Gemm {};
#define KERNEL(NAME, THREADS, ...) KERNEL_OF(NAME, THREADS, Plain, __VA_ARGS__)
