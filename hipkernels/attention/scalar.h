// One query a thread: its row of Q and its sums in registers, one key after the other.
#pragma once
#include "problem.h"

template <class T, int D>
__device__ void scalar(const Attention &g) {
  const int number = blockIdx.x * blockDim.x + threadIdx.x;
  const int query = number < g.queries ? number : g.queries - 1;  // who has none does the last one's work and keeps it
  const short *q = g.Q + g.q.rows_of(blockIdx.z, blockIdx.y) + (size_t)query * g.q.row;
  const short *k = g.K + g.k.rows_of(blockIdx.z, blockIdx.y), *v = g.V + g.v.rows_of(blockIdx.z, blockIdx.y);
  codes8 own[D / 8];
  float sum[D] = {}, weights = 0, top = MINUS_INFINITY;
#pragma unroll
  for (int i = 0; i < D / 8; ++i) own[i] = *reinterpret_cast<const codes8 *>(q + 8 * i);
  const float by = factor<D>(g);
  const int stop = seen_by(g, query);
  for (int key = 0; key < stop; ++key, k += g.k.row, v += g.v.row) {
    float dot = 0;
#pragma unroll
    for (int i = 0; i < D / 8; ++i) {
      const codes8 other = *reinterpret_cast<const codes8 *>(k + 8 * i);
      for (int e = 0; e < 8; ++e) dot = __builtin_fmaf(value_of<T>(own[i][e]), value_of<T>(other[e]), dot);
    }
    const float t = dot * by, before = top;
    top = __builtin_fmaxf(before, t);
    const float base = base_of(top), kept = power(before - base), weight = power(t - base);
    weights = __builtin_fmaf(weights, kept, weight);  // weights so far
#pragma unroll
    for (int i = 0; i < D / 8; ++i) {
      const codes8 row = *reinterpret_cast<const codes8 *>(v + 8 * i);
      for (int e = 0; e < 8; ++e)
        sum[8 * i + e] = __builtin_fmaf(weight, value_of<T>(row[e]), sum[8 * i + e] * kept);
    }
  }
  if (number >= g.queries) return;
  short *o = g.O + g.o.rows_of(blockIdx.z, blockIdx.y) + (size_t)query * g.o.row;
  const float inverse = 1.0f / weights;
#pragma unroll
  for (int i = 0; i < D / 8; ++i) {
    codes8 out;
    for (int e = 0; e < 8; ++e) out[e] = code_of<T>(average(sum[8 * i + e], weights, inverse));
    *reinterpret_cast<codes8 *>(o + 8 * i) = out;
  }
}
