// The rungs below tuned.hip, each with the one thing that it adds: E4M3 in A and B, C in f32.
#include "tile.h"

// One thread an element of C; any shape, at any address.
__device__ void one_thread(const Gemm<float> &g) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.M || column >= g.N) return;
  float sum = 0;
  for (int k = 0; k < g.K; ++k)
    sum += __builtin_amdgcn_cvt_f32_fp8(g.A[(size_t)row * g.lda + k], 0) *
           __builtin_amdgcn_cvt_f32_fp8(g.B[(size_t)column * g.ldb + k], 0);
  g.C[(size_t)row * g.ldc + column] = g.alpha * sum;
}

// One wave a tile of 16x16, whose fragments come from memory. Rows beyond the matrices are their last ones, and not stored.
__device__ void from_memory(const Gemm<float> &g) {
  Part<E4m3, E4m3, Waves<1, 1, 1, 1>, Plain, Narrow, false> part;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16, mine = part.lane % 16, from = part.lane / 16 * 8;
  const fp8 *a = g.A + (size_t)min(row + mine, g.M - 1) * g.lda + from;
  const fp8 *b = g.B + (size_t)min(column + mine, g.N - 1) * g.ldb + from;
  for (int k = 0; k < g.K; k += 16) part.add({{*(const words2 *)(a + k)}, {*(const words2 *)(b + k)}});
  part.finish(g, row, column);
}

// Tiles in one slot of the LDS.
template <class A, class B, class Block, class Place, class Read, bool TURNED>
__device__ void one_slot(const Gemm<float> &g) {
  TILES_IN_LDS(1);
  for (int k = 0; k < g.K; k += DEPTH) {
    fetch.start(k);
    fetch.store(slot[0]);
    __syncthreads();  // stored
    part.add_tile(slot[0]);
    __syncthreads();  // read
  }
  part.finish(g, row, column);
}

// Two slots: the next tile is stored before this one is multiplied, and one barrier a tile is enough.
template <class A, class B, class Block, class Place, class Read, bool TURNED>
__device__ void two_slots(const Gemm<float> &g) {
  TILES_IN_LDS(2);
  fetch.start(0);
  fetch.store(slot[0]);
  __syncthreads();  // first tile
  for (int k = 0, now = 0; k < g.K; k += DEPTH, now ^= 1) {
    if (k + DEPTH < g.K) {
      fetch.start(k + DEPTH);
      fetch.store(slot[now ^ 1]);
    }
    part.add_tile(slot[now]);
    __syncthreads();  // next tile
  }
  part.finish(g, row, column);
}

// The same; the next tile is on its way to registers while this one is multiplied.
template <class A, class B, class Block, class Place, class Read, bool TURNED>
__device__ void ahead(const Gemm<float> &g) {
  TILES_IN_LDS(2);
  fetch.start(0);
  fetch.store(slot[0]);
  __syncthreads();  // first tile
  for (int k = 0, now = 0; k < g.K; k += DEPTH, now ^= 1) {
    const bool more = k + DEPTH < g.K;
    if (more) fetch.start(k + DEPTH);
    part.add_tile(slot[now]);
    if (more) {
      fetch.store(slot[now ^ 1]);
      __syncthreads();  // next tile
    }
  }
  part.finish(g, row, column);
}

typedef Waves<2, 2, 2, 2> Small;  // 64x64
typedef Waves<2, 2, 4, 4> Large;  // 128x128
KERNEL(rung_naive, 256, float, one_thread)
KERNEL(rung_fragments, 32, float, from_memory)
KERNEL(rung_lds, 128, float, one_slot<E4m3, E4m3, Small, Plain, Narrow, false>)
KERNEL(rung_wide, 128, float, one_slot<E4m3, E4m3, Small, Plain, Wide, false>)
KERNEL(rung_padded, 128, float, one_slot<E4m3, E4m3, Small, Padded, Wide, false>)
KERNEL(rung_swizzled, 128, float, one_slot<E4m3, E4m3, Small, Swizzled, Wide, false>)
KERNEL(rung_two_slots, 128, float, two_slots<E4m3, E4m3, Small, Swizzled, Wide, false>)
KERNEL(rung_ahead, 128, float, ahead<E4m3, E4m3, Small, Swizzled, Wide, false>)
KERNEL(rung_large, 128, float, ahead<E4m3, E4m3, Large, Swizzled, Wide, false>)
KERNEL(rung_turned, 128, float, ahead<E4m3, E4m3, Large, Swizzled, Wide, true>)
