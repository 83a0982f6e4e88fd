// Attention forward in FP8: sequences of any length one behind the other, four waves with 32 queries each.
#include "tile.h"

#define WAVES 4

// Q [queries, heads, 128], K and V [keys, kv_heads, 128], O like Q in BF16; rows of sequence b are queries_from[b] to
// queries_from[b + 1], those of K and V keys_from[b] onwards. Scales are [sequences, kv_heads]. With `causal` the last query
// sees the last key. `scale` and the scales of Q and K are above 0.
struct Problem {
  const fp8 *Q, *K, *V;
  bf16 *O;
  const int *queries_from, *keys_from;
  const float *scale_q, *scale_k, *scale_v;
  int heads, kv_heads, causal;
  float scale;
};

typedef __bf16 pair __attribute__((ext_vector_type(2)));
MOVES int rounded(float x, float y) { return __builtin_bit_cast(int, pair{(__bf16)x, (__bf16)y}); }

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

__device__ __attribute__((always_inline)) void forward(const Problem &p) {
  __shared__ __attribute__((aligned(16))) char lds[4 * TILE];  // two tiles of K, two of V
  const int sequence = blockIdx.z, head = blockIdx.y, kv_head = head / (p.heads / p.kv_heads);
  const int from = constant(p.queries_from, sequence), queries = constant(p.queries_from, sequence + 1) - from;
  const int keys_from = constant(p.keys_from, sequence), keys = constant(p.keys_from, sequence + 1) - keys_from;
  const int block = blockIdx.x * QUERIES * WAVES;
  if (block >= queries) return;
  const int scales = sequence * p.kv_heads + kv_head, step = p.kv_heads * HEAD;
  const float by = p.scale * 1.4426950408889634f * constant(p.scale_q, scales) * constant(p.scale_k, scales);
  Wave w(lds, by);
  const int first = block + w.wave * QUERIES, query = first + w.column;
  w.fetch_queries(p.Q + ((size_t)(from + first) * p.heads + head) * HEAD, p.heads * HEAD, min(queries - first, QUERIES));
  const int shift = keys - queries + 1;  // query i sees the keys below i + shift
  const int last = min(block + QUERIES * WAVES, queries) - 1;
  const int stop = p.causal ? min(last + shift, keys) : keys;  // no query of the workgroup sees more
  const int seen = p.causal ? min(query + shift, keys) : keys, all = p.causal ? min(first + shift, keys) : keys;
  const size_t row = (size_t)keys_from * step + kv_head * HEAD;
  if (stop > 0) attend<WAVES>(w, lds, Following{p.K + row, step}, Following{p.V + row, step}, 0, keys, (stop + KEYS - 1) / KEYS, seen, all);
  const float weights = w.sum_of_weights();
  // A query that sees no key gets 0.
  const float factor = weights == 0.0f ? 0.0f : constant(p.scale_v, scales) / weights;
  store(w, query < queries ? p.O + ((size_t)(from + query) * p.heads + head) * HEAD : nullptr, factor);
}

extern "C" __global__ void __launch_bounds__(64 * WAVES, 2)
    forward_fp8(const fp8 *Q, const fp8 *K, const fp8 *V, bf16 *O, const int *queries_from, const int *keys_from,
                const float *scale_q, const float *scale_k, const float *scale_v, int heads, int kv_heads, int causal,
                float scale) {
  forward({Q, K, V, O, queries_from, keys_from, scale_q, scale_k, scale_v, heads, kv_heads, causal, scale});
}
