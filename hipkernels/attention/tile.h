// Tiles of 64 queries, 16 for each of four waves, that meet tiles of 32 keys in the LDS.
//
// K lies there as it is, V transposed, the weights as each wave made them: every fragment is then a part of a line.
#pragma once
#include "fragment.h"

#define WAVES 4
#define THREADS (WAVES * LANES)
#define KEYS 32
#define GAP 8  // elements between lines: 16 bytes, so that lines meet in fewer banks

template <class T, int D>
struct Tile {
  static constexpr int k_line = D + GAP, line = KEYS + GAP, pieces = KEYS * D / 8, steps = D / STEP, columns = D / 16;
  const Attention &g;
  short *k_lds, *v_lds, *p_lds;  // K, V transposed, and the wave's own weights
  unsigned lane = threadIdx.x % LANES, wave = threadIdx.x / LANES, column = lane % 16;
  int block = blockIdx.x * 16 * WAVES, first = block + wave * 16;  // first query of the workgroup, and of the wave
  fragment q[steps];
  sums out[columns] = {};

  __device__ void fetch_queries() {
    const bool there = first + (int)column < g.queries;
    const short *row = g.Q + g.q.rows_of(blockIdx.z, blockIdx.y) + (size_t)(first + column) * g.q.row;
#pragma unroll
    for (int i = 0; i < steps; ++i) q[i] = there ? read_part(row + STEP * i, lane) : fragment{};
  }
  // Rows of K and V behind the last key are 0: whatever they met would reach the sums, since 0 times NaN is NaN.
  __device__ void fetch_k(int key) const {
    const short *k = g.K + g.k.rows_of(blockIdx.z, blockIdx.y);
#pragma unroll
    for (int i = threadIdx.x; i < pieces; i += THREADS) {
      const int row = i / (D / 8), d = i % (D / 8) * 8;
      const bool there = key + row < g.keys;
      *reinterpret_cast<codes8 *>(k_lds + row * k_line + d) =
          there ? *reinterpret_cast<const codes8 *>(k + (size_t)(key + row) * g.k.row + d) : codes8{};
    }
  }
  __device__ void fetch_v(int key) const {
    const short *v = g.V + g.v.rows_of(blockIdx.z, blockIdx.y);
#pragma unroll
    for (int i = threadIdx.x; i < pieces; i += THREADS) {
      const int row = i % KEYS, d = i / KEYS * 8;  // lanes side by side write neighbours
      const bool there = key + row < g.keys;
      const codes8 piece = there ? *reinterpret_cast<const codes8 *>(v + (size_t)(key + row) * g.v.row + d) : codes8{};
      for (int e = 0; e < 8; ++e) v_lds[(d + e) * line + row] = piece[e];
    }
  }
  // Q K^T of 16 queries and 16 keys, the tile's `j`th.
  __device__ sums products(int j) const {
    sums s = {};
#pragma unroll
    for (int i = 0; i < steps; ++i) s = multiply(T{}, q[i], read_part(k_lds + (16 * j + column) * k_line + STEP * i, lane), s);
    return s;
  }
  __device__ short &weight(unsigned r, int j) const { return p_lds[row_of(r, lane) * line + 16 * j + column]; }
  __device__ fragment weights_of(int i) const { return read_part(p_lds + column * line + STEP * i, lane); }
  __device__ const short *column_of_v(int i) const { return v_lds + (16 * i + column) * line; }

  // Weights times V, onto the sums.
  __device__ void add_all() {
    fragment p[KEYS / STEP];
#pragma unroll
    for (int i = 0; i < KEYS / STEP; ++i) p[i] = weights_of(i);
#pragma unroll
    for (int c = 0; c < columns; ++c)
#pragma unroll
      for (int i = 0; i < KEYS / STEP; ++i)
        out[c] = multiply(T{}, p[i], read_part(column_of_v(c) + STEP * i, lane), out[c]);
  }
  // The same where some weights are 0 because the key is hidden, and 0 times NaN or Inf must not count: what is not
  // finite in V is left out and then met one by one, by those queries that see it.
  __device__ void add_seen(int key) {
    fragment p[KEYS / STEP];
#pragma unroll
    for (int i = 0; i < KEYS / STEP; ++i) p[i] = weights_of(i);
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      bool finite = true;
#pragma unroll
      for (int i = 0; i < KEYS / STEP; ++i) {
        fragment v = read_part(column_of_v(c) + STEP * i, lane);
#pragma unroll
        for (int e = 0; e < (int)(sizeof(fragment) / 2); ++e) {
          finite &= is_finite<T>(v[e]);
          v[e] = is_finite<T>(v[e]) ? v[e] : 0;
        }
        out[c] = multiply(T{}, p[i], v, out[c]);
      }
      if (__builtin_amdgcn_ballot_w64(!finite) == 0) continue;
#pragma clang loop unroll(disable)
      for (int n = 0; n < KEYS; ++n) {
        const short v = column_of_v(c)[n];
        if (__builtin_amdgcn_ballot_w64(!is_finite<T>(v)) == 0) continue;
        for (int r = 0; r < ROWS; ++r) {
          const bool meets = !is_finite<T>(v) && key + n < seen_by(g, first + row_of(r, lane));
          const float more = out[c][r] + value_of<T>(p_lds[row_of(r, lane) * line + n]) * value_of<T>(v);
          out[c][r] = meets ? more : out[c][r];
        }
      }
    }
  }
};

// The compiler may not move accesses across; within a wave the LDS does them in order.
#define WEIGHTS_WRITTEN() __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront")

#define TILE_IN_LDS(T, D)                                                                                          \
  __shared__ __attribute__((aligned(16))) short k_lds[KEYS * Tile<T, D>::k_line], v_lds[D * Tile<T, D>::line],     \
      p_lds[WAVES][16 * Tile<T, D>::line];                                                                         \
  Tile<T, D> tile = {g, k_lds, v_lds, p_lds[threadIdx.x / LANES]}
