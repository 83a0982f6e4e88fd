// Attention by tiles: largest value and sum of the weights are kept while tiles of keys pass, and what was summed with an
// earlier, smaller largest value is scaled down to the new one.
#pragma once
#include "tile.h"

template <class T, int D>
__device__ void tiled(const Attention &g) {
  TILE_IN_LDS(T, D);
  tile.fetch_queries();
  float top[ROWS], weights[ROWS];  // weights: of this lane's keys alone
  for (int r = 0; r < ROWS; ++r) top[r] = MINUS_INFINITY, weights[r] = 0;
  const float by = factor<D>(g);
  const int last = tile.block + 16 * WAVES < g.queries ? tile.block + 16 * WAVES : g.queries;
  const int stop = seen_by(g, last - 1);  // no query of the workgroup sees more
  for (int key = 0; key < stop; key += KEYS) {
    tile.fetch_k(key);
    tile.fetch_v(key);
    __syncthreads();  // tiles are there
    sums s[KEYS / 16];
#pragma unroll
    for (int j = 0; j < KEYS / 16; ++j) s[j] = tile.products(j);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int seen = seen_by(g, tile.first + row_of(r, tile.lane));
      float t[KEYS / 16], now = MINUS_INFINITY;
#pragma unroll
      for (int j = 0; j < KEYS / 16; ++j) {
        t[j] = key + 16 * j + (int)tile.column < seen ? s[j][r] * by : MINUS_INFINITY;
        now = __builtin_fmaxf(now, t[j]);
      }
      now = __builtin_fmaxf(top[r], largest_of_row(now));
      const float base = base_of(now), kept = power(top[r] - base);
      top[r] = now;
      weights[r] *= kept;  // weights so far
#pragma unroll
      for (int j = 0; j < KEYS / 16; ++j) {
        const short p = code_of<T>(power(t[j] - base));
        weights[r] += value_of<T>(p);  // as it will be multiplied
        tile.weight(r, j) = p;
      }
#pragma unroll
      for (int c = 0; c < tile.columns; ++c) tile.out[c][r] *= kept;  // sums so far
    }
    WEIGHTS_WRITTEN();
    if (key + KEYS > seen_by(g, tile.first) && g.causal != EVERY_KEY)
      tile.add_seen(key);
    else
      tile.add_all();
    __syncthreads();  // tiles are read
  }
  short *o = g.O + g.o.rows_of(blockIdx.z, blockIdx.y);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int query = tile.first + row_of(r, tile.lane);
    const float all = sum_of_row(weights[r]), inverse = 1.0f / all;
    if (query >= g.queries) continue;
#pragma unroll
    for (int c = 0; c < tile.columns; ++c)
      o[(size_t)query * g.o.row + 16 * c + tile.column] = code_of<T>(average(tile.out[c][r], all, inverse));
  }
}

// The two products alone, by the same fragments: S = Q K^T, and O = P V with P in the place of the weights.
template <class T, int D>
__device__ void scores_alone(const short *Q, const short *K, float *S, int queries, int keys) {
  const Attention g = {Q, K, nullptr, nullptr, queries, keys, {0, 0, D}, {0, 0, D}};
  TILE_IN_LDS(T, D);
  tile.fetch_queries();
  for (int key = 0; key < keys; key += KEYS) {
    tile.fetch_k(key);
    __syncthreads();
    for (int j = 0; j < KEYS / 16; ++j) {
      const sums s = tile.products(j);
      for (int r = 0; r < ROWS; ++r) {
        const int query = tile.first + row_of(r, tile.lane), at = key + 16 * j + tile.column;
        if (query < queries && at < keys) S[(size_t)query * keys + at] = s[r];
      }
    }
    __syncthreads();
  }
}

template <class T, int D>
__device__ void sums_alone(const short *P, const short *V, float *O, int queries, int keys) {
  const Attention g = {nullptr, nullptr, V, nullptr, queries, keys, {}, {}, {0, 0, D}};
  TILE_IN_LDS(T, D);
  for (int key = 0; key < keys; key += KEYS) {
    tile.fetch_v(key);
    for (int r = 0; r < ROWS; ++r)
      for (int j = 0; j < KEYS / 16; ++j) {
        const int query = tile.first + row_of(r, tile.lane), at = key + 16 * j + tile.column;
        tile.weight(r, j) = query < queries && at < keys ? P[(size_t)query * keys + at] : 0;
      }
    WEIGHTS_WRITTEN();
    __syncthreads();
    tile.add_all();
    __syncthreads();
  }
  for (int c = 0; c < tile.columns; ++c)
    for (int r = 0; r < ROWS; ++r) {
      const int query = tile.first + row_of(r, tile.lane);
      if (query < queries) O[(size_t)query * D + 16 * c + tile.column] = tile.out[c][r];
    }
}
#define PRODUCT(NAME, OUT, WHAT)                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                        \
      NAME(const short *A, const short *B, OUT *C, int queries, int keys) {                                    \
    WHAT(A, B, C, queries, keys);                                                                              \
  }
