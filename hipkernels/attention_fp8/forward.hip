// Attention forward in FP8: sequences of any length one behind the other, four waves with 32 queries each.
#include "tile.h"

#define WAVES 4

// 32 queries of O^T, eight neighbours of the head at a time. On gfx950 a lane has four in as many registers, and an exchange of
// the halves makes eight; on gfx942 it has four in one register of all sums.
MOVES void store(const Wave &w, bf16 *row, float factor) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      words4 eight;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        int part[2];
#pragma unroll
        for (int g = 0; g < 2; ++g) {
#if defined(__gfx950__)
          const int r = 8 * n + 4 * g + 2 * e;
          part[g] = rounded(w.out[i][r] * factor, w.out[i][r + 1] * factor);
#else
          const int r = 4 * i + 2 * n + g;
          part[g] = rounded(w.out[2 * e][r] * factor, w.out[2 * e + 1][r] * factor);
#endif
        }
#if defined(__gfx950__)
        const auto swapped = __builtin_amdgcn_permlane32_swap(part[0], part[1], false, false);
        part[0] = swapped[0], part[1] = swapped[1];
#endif
        eight[e] = part[0], eight[e + 2] = part[1];
      }
#if defined(__gfx950__)
      const unsigned at = 32 * i + 16 * n + 8 * w.half;
#else
      const unsigned at = element(0, 4 * i + 2 * n, w.half);
#endif
      if (row) *reinterpret_cast<words4 *>(row + at) = eight;
    }
}

__device__ __attribute__((always_inline)) void forward(const Forward &p, Position at) {
  __shared__ __attribute__((aligned(16))) char lds[4 * TILE];  // two tiles of K, two of V
  const Block b(p, QUERIES * WAVES, at);
  if (b.block >= b.queries) return;
  Wave w(lds, b.by);
  const int first = b.block + w.wave * QUERIES, query = first + w.column;
  w.fetch_queries(p.Q + b.row(p, first), p.heads * HEAD, min(b.queries - first, QUERIES));
  if (b.stop > 0) attend<WAVES>(w, lds, b.rows_of(p, p.K), b.rows_of(p, p.V), 0, b.keys, b.tiles(), b.seen(p, query), b.seen(p, first));
  store(w, query < b.queries ? p.O + b.row(p, query) : nullptr, b.factor(p, w.sum_of_weights()));
}
#define KERNEL(NAME, ORDER)                                                                    \
  extern "C" __global__ void __launch_bounds__(64 * WAVES, 2) NAME(FORWARD_ARGUMENTS) {        \
    const Forward p = FORWARD_PROBLEM;                                                         \
    forward(p, ORDER(p));                                                                      \
  }
KERNEL(forward_fp8, in_turn)
KERNEL(forward_fp8_xcd, group_by_group)
