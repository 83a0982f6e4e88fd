// Attention backward: dQ, dK and dV from dO, and from what the forward pass left: LSE, the logarithm of the sum of the
// exponentials of a query's scores, and delta, the sum of dO O over a query's row.
//
//   P = exp(scale Q K^T - LSE)    dV = P^T dO    dP = dO V^T    dS = P (dP - delta)    dK = scale dS^T Q    dQ = scale dS K
//
// Two kernels, and every sum in one order. One keeps keys and passes over queries (dK, dV), the other keeps queries and
// passes over keys (dQ). Both are the same loop: of the matrices that pass, x and y, and the two that are kept, x times
// the first are scores, y times the second is dP; columns of x times dS are dK or dQ, columns of y times P are dV.
// RDNA4's 256 registers do not hold dK and dV for D = 128: a kernel for each there.
#pragma once
#include "tiles.h"

struct Backward : Attention {
  const short *dO;  // strides as O
  const float *lse, *delta;  // [B, H, queries]
  int group;  // heads of Q that share one of K and V
};

enum { DQ = 1, DK = 2, DV = 4 };  // what a pass leaves

template <int D, int LEAVES>
struct Pass {
  static constexpr bool OF_KEYS = LEAVES != DQ, CHANGES = LEAVES != DV, VALUES = LEAVES & DV;
  const Backward &g;
  Tiles<D, OF_KEYS ? 2 : 1> &tiles;
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / LANES), lane = threadIdx.x % LANES, half = lane / SIDE;
  const int block = blockIdx.x * OWN, first = block + wave * SIDE, own = first + lane % SIDE;
  // A query sees the keys below query + shift.
  const int shift = g.causal == EVERY_KEY ? g.keys : g.causal == BOTTOM_RIGHT ? g.keys - g.queries + 1 : 1;
  const float scale = scale_of<D>(g), by = scale * LOG2_E;
  Kept<D> one, other;
  float lse = 0;
  sums begin = {};
  const float *factors = nullptr;  // LSE or delta of the head that is loaded next
  sums out[D / SIDE] = {}, values[D / SIDE] = {};
  Moved<D> next;

  // The row of the block at which the kept row `number` begins (keys), or before which it ends (queries), to see.
  MOVES int limit(int number) const {
    if (OF_KEYS) return g.causal == EVERY_KEY ? 0 : number - shift + 1;
    return g.causal == EVERY_KEY ? g.keys : min(number + shift, g.keys);
  }
  MOVES void keep() {
    const unsigned head = blockIdx.y, b = blockIdx.z;
    if (OF_KEYS) {
      const size_t row = min(own, g.keys - 1), at = ((size_t)b * gridDim.y + head) * g.group * g.queries;
      factors = (threadIdx.x / PASSING ? g.delta : g.lse) + at;
      one.load(g.K + g.k.rows_of(b, head) + row * g.k.row, half);
      if (CHANGES) other.load(g.V + g.v.rows_of(b, head) + row * g.v.row, half);
    } else {
      const size_t row = min(own, g.queries - 1), at = ((size_t)b * gridDim.y + head) * g.queries + row;
      one.load(g.Q + g.q.rows_of(b, head) + row * g.q.row, half);
      other.load(g.dO + g.o.rows_of(b, head) + row * g.o.row, half);
      lse = g.lse[at] * LOG2_E;
      const float less = -g.delta[at];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) begin[r] = less;
    }
  }
  MOVES void load(int row, int head) {
    const unsigned b = blockIdx.z;
    if (OF_KEYS) {
      next.load(g.Q + g.q.rows_of(b, head), g.q.row, g.dO + g.o.rows_of(b, head), g.o.row, row, g.queries - 1);
      next.load_factors(factors, row, g.queries - 1);
    } else {
      next.load(g.K + g.k.rows_of(b, head), g.k.row, g.V + g.v.rows_of(b, head), g.v.row, row, g.keys - 1);
    }
  }
  // SIDE rows of the block, the first of which is row `row` of all.
  MOVES void add_rows(unsigned from, int row) {
    sums s = {}, d = begin;  // begins with -delta
    if constexpr (OF_KEYS && CHANGES)
#pragma unroll
      for (int r = 0; r < ROWS; r += 4) {
        const f32x4 less = *reinterpret_cast<const f32x4 *>(tiles.factors[1] + from + row_of(r, half));
        for (int t = 0; t < 4; ++t) d[r + t] = less[t];
      }
    s = products<D>(tiles.rows[0], from, one, lane, s);
#pragma unroll
    for (int r = 0; r < ROWS; r += 4) {
      const f32x4 of_rows = OF_KEYS ? *reinterpret_cast<const f32x4 *>(tiles.factors[0] + from + row_of(r, half)) : f32x4{};
#pragma unroll
      for (int t = 0; t < 4; ++t) s[r + t] = power(__builtin_fmaf(s[r + t], by, -(OF_KEYS ? of_rows[t] : lse)));
    }
    // Where a pair is hidden: the last key sees the fewest queries, the first query the fewest keys.
    if (OF_KEYS ? row < limit(first + SIDE - 1) : row + SIDE > limit(first)) {
      const int edge = limit(own) - row - (int)row_of(0, half);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) s[r] = (OF_KEYS ? (int)row_of(r, 0) >= edge : (int)row_of(r, 0) < edge) ? s[r] : 0.0f;
    }
    if constexpr (VALUES) add_rounded(values, tiles.columns[1], from, s);
    if constexpr (!CHANGES) return;
    d = products<D>(tiles.rows[1], from, other, lane, d);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) d[r] *= s[r];
    add_rounded(out, tiles.columns[0], from, d);
  }
  MOVES void add_rounded(sums (&to)[D / SIDE], const short *columns, unsigned from, const sums &s) const {
    codes8 weights[SIDE / 16];
#pragma unroll
    for (int i = 0; i < SIDE / 16; ++i) weights[i] = rounded(s, 8 * i);
    add<D>(to, columns, from, weights, lane);
  }
  static MOVES codes8 rounded(const sums &s, int r) {
    typedef unsigned words4 __attribute__((ext_vector_type(4)));
    return __builtin_bit_cast(codes8, words4{codes_of(s[r], s[r + 1]), codes_of(s[r + 2], s[r + 3]),
                                             codes_of(s[r + 4], s[r + 5]), codes_of(s[r + 6], s[r + 7])});
  }
  MOVES void run() {
    keep();
    const int start = OF_KEYS ? max(limit(block), 0) : 0;
    const int stop = OF_KEYS ? g.queries : limit(min(block + OWN, g.queries) - 1);
    const int begin = OF_KEYS ? blockIdx.y * g.group : blockIdx.y / g.group, end = OF_KEYS ? begin + g.group : begin + 1;
    if (start >= stop) return;
    load(start, begin);
    int row = start, head = begin;
    do {
      const int here = row;
      __syncthreads();  // the block before is read
      next.store(tiles);
      __syncthreads();  // the block is there
      row += PASSING;
      if (row >= stop) row = start, ++head, factors += g.queries;
      if (head < end) load(row, head);
#pragma unroll
      for (int from = 0; from < PASSING; from += SIDE) add_rows(from, here + from);
    } while (head < end);
  }
  static MOVES void leave(short *row, const sums (&of)[D / SIDE], float factor, unsigned half) {
#pragma unroll
    for (int c = 0; c < D / SIDE; ++c)
#pragma unroll
      for (int r = 0; r < ROWS; r += 4) {
        codes4 codes;
        for (int t = 0; t < 4; ++t) codes[t] = code_of<BF16>(of[c][r + t] * factor);
        *reinterpret_cast<codes4 *>(row + SIDE * c + row_of(r, half)) = codes;
      }
  }
};

template <int D, int LEAVES>
MOVES void backward(const Backward &g, short *dQ, short *dK, short *dV) {
  typedef Pass<D, LEAVES> P;
  __shared__ __attribute__((aligned(16))) Tiles<D, P::OF_KEYS ? 2 : 1> tiles;
  P pass = {g, tiles};
  pass.run();
  if (pass.own >= (P::OF_KEYS ? g.keys : g.queries)) return;
  const auto row = [&](short *to, const Strides &s) { return to + s.rows_of(blockIdx.z, blockIdx.y) + (size_t)pass.own * s.row; };
  if (LEAVES & DQ) pass.leave(row(dQ, g.q), pass.out, pass.scale, pass.half);
  if (LEAVES & DK) pass.leave(row(dK, g.k), pass.out, pass.scale, pass.half);
  if (LEAVES & DV) pass.leave(row(dV, g.v), pass.values, 1.0f, pass.half);
}

// delta: D / 8 lanes have a row, eight elements each; sums of lanes 1 and 2 apart, then of mirrored halves, then rows.
#define OTHER(X, HOW) __builtin_bit_cast(float, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, X), HOW, 0xf, 0xf, false))
template <int D>
MOVES void row_sums(const short *O, const short *dO, float *delta, int queries, const Strides &o) {
  constexpr int lanes = D / 8;
  const int number = (blockIdx.x * THREADS + threadIdx.x) / lanes, row = min(number, queries - 1);
  const size_t at = o.rows_of(blockIdx.z, blockIdx.y) + (size_t)row * o.row + threadIdx.x % lanes * 8;
  const codes8 x = *reinterpret_cast<const codes8 *>(O + at), y = *reinterpret_cast<const codes8 *>(dO + at);
  float sum = 0;
#pragma unroll
  for (int e = 0; e < 8; ++e) sum = __builtin_fmaf(value_of<BF16>(x[e]), value_of<BF16>(y[e]), sum);
  sum += OTHER(sum, 0xb1);
  sum += OTHER(sum, 0x4e);
  sum += OTHER(sum, 0x141);
  if (lanes == 16) sum += OTHER(sum, 0x140);
  if (threadIdx.x % lanes == 0 && number < queries)
    delta[((size_t)blockIdx.z * gridDim.y + blockIdx.y) * queries + number] = sum;
}

// A kernel NAME whose outputs are those of dQ, dK and dV that LEAVES names; the others are not read.
#define BACKWARD(NAME, D, LEAVES)                                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
      NAME(const short *Q, const short *K, const short *V, const short *dO, const float *lse, const float *delta,      \
           short *dQ, short *dK, short *dV, int queries, int keys, int group, Strides q, Strides k, Strides v,         \
           Strides o, int causal, const float *scale) {                                                                \
    backward<D, LEAVES>({{Q, K, V, nullptr, queries, keys, q, k, v, o, causal, scale}, dO, lse, delta, group}, dQ, dK, \
                        dV);                                                                                           \
  }
#define ROW_SUMS(D)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
      delta_##D(const short *O, const short *dO, float *delta, int queries, Strides o) {                               \
    row_sums<D>(O, dO, delta, queries, o);                                                                             \
  }
