// Decode in FP8: one query for each sequence, keys and values in pages, split over workgroups; and their combination.
#include "tile.h"

typedef float f32x4 __attribute__((ext_vector_type(4)));

// Q [sequences, heads, 128]; K and V [pages, 2^shift, kv_heads, 128], page n of sequence b is tables[b * most_pages + n].
// The heads of Q that share a head of K are the queries of a wave, up to 32. A split takes whole tiles of the sequence and
// leaves what it has summed, O [sequences, heads, splits, 128], and [.., 2] the base of its weights and their sum, 0 if it
// has no keys.
struct Problem {
  const fp8 *Q, *K, *V;
  float *O;
  f32x2 *state;
  const int *tables, *lengths;
  const float *scale_q, *scale_k;
  int heads, kv_heads, shift, most_pages;
  float scale;
};

__device__ __attribute__((always_inline)) void split(const Problem &p, int splits) {
  __shared__ __attribute__((aligned(16))) char lds[4 * TILE];  // two tiles of K, two of V
  const int number = blockIdx.x, kv_head = blockIdx.y, sequence = blockIdx.z, group = p.heads / p.kv_heads;
  const int scales = sequence * p.kv_heads + kv_head, keys = constant(p.lengths, sequence);
  const float by = p.scale * 1.4426950408889634f * constant(p.scale_q, scales) * constant(p.scale_k, scales);
  Wave w(lds, by);
  const size_t first = (size_t)sequence * p.heads + kv_head * group;
  w.fetch_queries(p.Q + first * HEAD, HEAD, group);
  const int all = (keys + KEYS - 1) / KEYS, each = (all + splits - 1) / splits;
  const int from = number * each, tiles = min(each, all - from);
  const int *table = p.tables + (size_t)sequence * p.most_pages;
  const int step = p.kv_heads * HEAD;
  if (tiles > 0)
    attend<1>(w, lds, Paged{p.K + kv_head * HEAD, step, p.shift, table}, Paged{p.V + kv_head * HEAD, step, p.shift, table},
              from * KEYS, keys, tiles, keys, keys);
  const float weights = w.sum_of_weights();
  if (w.column >= group) return;
  const size_t row = (first + w.column) * splits + number;
  if (w.half == 0) p.state[row] = f32x2{w.base, weights};
  // Four neighbours of the head: in four registers, or in one of all four sums.
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#if defined(__gfx950__)
      const f32x4 four = {w.out[i][4 * n], w.out[i][4 * n + 1], w.out[i][4 * n + 2], w.out[i][4 * n + 3]};
      const unsigned at = element(i, 4 * n, w.half);
#else
      const f32x4 four = {w.out[0][4 * n + i], w.out[1][4 * n + i], w.out[2][4 * n + i], w.out[3][4 * n + i]};
      const unsigned at = element(0, 4 * n + i, w.half);
#endif
      *reinterpret_cast<f32x4 *>(p.O + row * HEAD + at) = four;
    }
}

extern "C" __global__ void __launch_bounds__(64)
    decode_fp8(const fp8 *Q, const fp8 *K, const fp8 *V, float *O, f32x2 *state, const int *tables, const int *lengths,
               const float *scale_q, const float *scale_k, int heads, int kv_heads, int shift, int most_pages, int splits,
               float scale) {
  split({Q, K, V, O, state, tables, lengths, scale_q, scale_k, heads, kv_heads, shift, most_pages, scale}, splits);
}

// One work-item for each element of a head: sums of the splits, on the largest base.
extern "C" __global__ void __launch_bounds__(HEAD)
    combine(const float *sums, const f32x2 *state, bf16 *O, const float *scale_v, int heads, int kv_heads, int splits) {
  const int head = blockIdx.x, sequence = blockIdx.y, d = threadIdx.x;
  const size_t row = (size_t)sequence * heads + head;
  float base = MINUS_INFINITY, sum = 0.0f, weights = 0.0f;
  for (int n = 0; n < splits; ++n) {
    const f32x2 one = state[row * splits + n];
    if (one[1] != 0.0f) base = __builtin_fmaxf(base, one[0]);  // a split without keys has no base
  }
  for (int n = 0; n < splits; ++n) {
    const f32x2 one = state[row * splits + n];
    if (one[1] == 0.0f) continue;
    const float kept = __builtin_amdgcn_exp2f(one[0] - base);
    sum = __builtin_fmaf(sums[(row * splits + n) * HEAD + d], kept, sum);
    weights = __builtin_fmaf(one[1], kept, weights);
  }
  const float factor = weights == 0.0f ? 0.0f : scale_v[sequence * kv_heads + head / (heads / kv_heads)] / weights;
  O[row * HEAD + d] = __builtin_bit_cast(bf16, (__bf16)(sum * factor));
}
