// Stream-K: the steps of K of all tiles in one row, cut into as many equal parts as there are workgroups; in NumPy
// mfmasim.grids.segments. Sums of a part of K go to the workspace, two tiles of 64x64 for each workgroup, and a second
// kernel adds them in the order of K: no workgroup waits, and nothing is added atomically.
#pragma once
#include "../product.h"

typedef Waves<2, 2> Square;
#define SIDE 64
static_assert(Square::rows == SIDE && Square::columns == SIDE, "the workspace's tile");

struct Steps {
  int depth, across;
  long long total;
  __device__ Steps(int M, int N, int K) : depth((K + 15) / 16), across((N + SIDE - 1) / SIDE) {
    total = (long long)((M + SIDE - 1) / SIDE) * across * depth;
  }
  // Step with which a workgroup begins.
  __device__ long long begin(int workgroup, int workgroups) const { return total * workgroup / workgroups; }
};

// A product of some of K that goes to C, or to a tile of the workspace.
struct Segment : Gemm {
  int row, column;
  float *partial;
};
template <class Block>
__device__ Corner corner_of(const Segment &g) {
  return {g.row, g.column};
}
template <class Block, class Place>
__device__ void finish(const Segment &g, const Part<Block, Place> &part, int row, int column) {
  if (!g.partial) return part.finish(g, row, column);
#pragma unroll
  for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j)
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        const int y = part.m + 16 * i + row_of(r, part.lane), x = part.n + 16 * j + column_of(part.lane);
        if (row + y < g.M && column + x < g.N) g.partial[y * SIDE + x] = part.sum[i][j][r];
      }
}

template <class Load>
__device__ void stream(const Gemm &g, float *workspace) {
  const Steps steps(g.M, g.N, g.K);
  const int me = blockIdx.x, all = gridDim.x;
  const long long end = steps.begin(me + 1, all);
  for (long long at = steps.begin(me, all); at < end;) {
    const int tile = at / steps.depth, first = at % steps.depth;
    const int last = min((long long)steps.depth, first + end - at);
    const bool whole = first == 0 && last == steps.depth;
    const int k = 16 * first;
    ahead<Square, Padded<1>, Load>(Segment{
        {g.A + k, g.B + (size_t)k * g.ldb, g.C, g.M, g.N, min(16 * last, g.K) - k, g.lda, g.ldb, g.ldc},
        tile / steps.across * SIDE,
        tile % steps.across * SIDE,
        whole ? nullptr : workspace + (2 * me + (first == 0)) * SIDE * SIDE});
    at += last - first;
    __syncthreads();  // the LDS is free for the next tile
  }
}
