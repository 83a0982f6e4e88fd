// Attention forward in FP8 on gfx1250: four waves with 32 queries each; and its two products by the same functions, so that the
// way of every element can be followed.
#include "tensor.h"

#define WAVES 4

// A lane has eight neighbours of the head in as many registers.
MOVES void store(const Wave &w, int c, bf16 *row, float factor) {
  UNROLL for (int i = 0; i < 8; ++i) {
    words4 eight;
    UNROLL for (int r = 0; r < 8; r += 2) eight[r / 2] = rounded(w.out[i][c][r] * factor, w.out[i][c][r + 1] * factor);
    *reinterpret_cast<words4 *>(row + 16 * i + 8 * w.half) = eight;
  }
}

extern "C" __global__ void __launch_bounds__(32 * WAVES, 2) forward_fp8(FORWARD_ARGUMENTS) {
  const Forward p = FORWARD_PROBLEM;
  __shared__ __attribute__((aligned(16))) char memory[4 * TILE + WAVES * QUERIES * PITCH];  // K, V, and Q behind them
  const unsigned lds = LDS_ADDRESS(memory);
  const Block b(p, QUERIES * WAVES, in_turn(p));
  if (b.block >= b.queries) return;
  Wave w(b.by);
  const int first = b.block + w.wave * QUERIES;
  const unsigned own = lds + 4 * TILE + w.wave * QUERIES * PITCH;
  fetch(own, p.Q + b.row(p, first), p.heads * HEAD, QUERIES, b.queries - first);
  WAIT_TENSOR(0);  // Q is moved
  w.read_queries(own);
  const int query[2] = {first + (int)w.column, first + (int)w.column + 16};
  const int seen[2] = {b.seen(p, query[0]), b.seen(p, query[1])};
  if (b.stop > 0) attend<WAVES>(w, lds, b.rows_of(p, p.K), b.rows_of(p, p.V), b.keys, b.tiles(), seen, b.seen(p, first));
  UNROLL for (int c = 0; c < 2; ++c) {
    const float factor = b.factor(p, w.sum_of_weights(c));
    if (query[c] < b.queries) store(w, c, p.O + b.row(p, query[c]), factor);
  }
}

extern "C" __global__ void __launch_bounds__(32) scores_fp8(const fp8 *Q, const fp8 *K, float *S, int queries, int keys) {
  __shared__ __attribute__((aligned(16))) char memory[TILE + QUERIES * PITCH];
  const unsigned lds = LDS_ADDRESS(memory);
  Wave w(1.0f);
  const int first = blockIdx.x * QUERIES;
  fetch(lds + TILE, Q + (size_t)first * HEAD, HEAD, QUERIES, queries - first);
  WAIT_TENSOR(0);  // Q is moved
  w.read_queries(lds + TILE);
  for (int key = 0; key < keys; key += KEYS) {
    fetch(lds, K + (size_t)key * HEAD, HEAD, KEYS, keys - key);
    WAIT_TENSOR(0);  // K is moved
    UNROLL for (int j = 0; j < 8; ++j) w.score(j, w.read_keys(lds, j));
    UNROLL for (int j = 0; j < 8; ++j)
      UNROLL for (int c = 0; c < 2; ++c)
        UNROLL for (int r = 0; r < 8; ++r) {
          const int query = first + w.column + 16 * c, at = key + 16 * j + 8 * w.half + r;
          if (query < queries && at < keys) S[(size_t)query * keys + at] = w.s[j][c][r];
        }
  }
}

// `keys` is a multiple of 8.
extern "C" __global__ void __launch_bounds__(32) sums_fp8(const fp8 *P, const fp8 *V, float *O, int queries, int keys) {
  __shared__ __attribute__((aligned(16))) char memory[TILE];
  const unsigned lds = LDS_ADDRESS(memory);
  Wave w(1.0f);
  for (int key = 0; key < keys; key += KEYS) {
    fetch(lds, V + (size_t)key * HEAD, HEAD, KEYS, keys - key);
    UNROLL for (int c = 0; c < 2; ++c)
      UNROLL for (int j = 0; j < 8; ++j) {
        const int query = blockIdx.x * QUERIES + w.column + 16 * c, at = key + 16 * j + 8 * w.half;
        w.p[c][j] = words2{};
        if (query < queries && at < keys) w.p[c][j] = *reinterpret_cast<const words2 *>(P + (size_t)query * keys + at);
      }
    WAIT_TENSOR(0);  // V is moved
    UNROLL for (int i = 0; i < 8; ++i) w.add(i, w.read_values(lds, i));
    settle(w.out[7][1]);
  }
  UNROLL for (int c = 0; c < 2; ++c) {
    const int query = blockIdx.x * QUERIES + w.column + 16 * c;
    if (query < queries)
      UNROLL for (int i = 0; i < 8; ++i)
        UNROLL for (int r = 0; r < 8; ++r) O[(size_t)query * HEAD + 16 * i + 8 * w.half + r] = w.out[i][c][r];
  }
}
