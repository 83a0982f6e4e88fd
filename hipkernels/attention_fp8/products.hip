// The two products of the kernels, each by itself and from the same functions, so that the way of every element can be
// followed: a softmax between them leaves nothing of an element.
#include "tile.h"

extern "C" __global__ void __launch_bounds__(64)
    scores_fp8(const fp8 *Q, const fp8 *K, float *S, int queries, int keys) {
  __shared__ __attribute__((aligned(16))) char lds[4 * TILE];
  Wave w(lds, 1.0f);
  const int first = blockIdx.x * QUERIES, query = first + w.column;
  w.fetch_queries(Q + (size_t)first * HEAD, HEAD, min(queries - first, QUERIES));
  for (int key = 0; key < keys; key += KEYS) {
    fetch<1, true>(lds, Following{K, HEAD}, key, keys, w.wave, w.lane);
    WAIT_DIRECT(0);  // K is fetched
    Operand k[2][2];
    w.start_k<0>(k);
    WAIT_LDS();
#pragma unroll
    for (int i = 0; i < 4; ++i) arrived(k[i / 2][i % 2]);
    f32x16 s[2];
    w.scores(s, k);
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        const int at = key + 32 * t + r / 4 * 8 + 4 * w.half + r % 4;
        if (query < queries && at < keys) S[(size_t)query * keys + at] = s[t][r];
      }
  }
}

// `keys` is a multiple of 64.
extern "C" __global__ void __launch_bounds__(64)
    sums_fp8(const fp8 *P, const fp8 *V, float *O, int queries, int keys) {
  __shared__ __attribute__((aligned(16))) char lds[4 * TILE];
  Wave w(lds, 1.0f);
  const int query = blockIdx.x * QUERIES + w.column;
  for (int key = 0; key < keys; key += KEYS) {
    fetch<1, V_SWIZZLED>(lds + 2 * TILE, Following{V, HEAD}, key, keys, w.wave, w.lane);
    w.p = words8{};
    if (query < queries)
#pragma unroll
      for (int n = 0; n < 8; ++n) w.p[n] = *reinterpret_cast<const int *>(P + (size_t)query * keys + key + 8 * n + 4 * w.half);
    WAIT_DIRECT(0);  // V is fetched
    Values v;
    v.start<0>(w.v_at);
    WAIT_LDS();
    v.arrived();
    w.add(v);
  }
  if (query >= queries) return;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int r = 0; r < 16; ++r) O[(size_t)query * HEAD + element(i, r, w.half)] = w.out[i][r];
}
