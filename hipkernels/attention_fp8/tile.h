// Attention in FP8 for heads of 128: tiles of 64 keys in the LDS, 32 queries for each wave.
//
// Both products are computed transposed, S^T = K Q^T and O^T = V^T P^T, so that the column of a lane is one query in both.
// A lane then has 32 scores of its query, and with the other half of the wave all 64 of a tile. Quantised, these 32 bytes
// are the lane's part of the second product's B as they lie: that permutes the keys within the tile, and V is read in the
// same permutation. On gfx950 transposed reads do so (ds_read_b64_tr_b8), because each lane names the row that it reads. On
// gfx942 a lane reads four bytes of each of its keys, transposes four keys with v_perm_b32, and takes every fourth element
// of the head in turn.
#pragma once
#include "common.h"

typedef float f32x16 __attribute__((ext_vector_type(16)));

#define TILE (KEYS * HEAD)  // bytes
#if defined(__gfx950__)
#define LANE_BYTES 16
#else
#define LANE_BYTES 4
#endif

// The same in a cache of pages with 2^shift rows each; a table names the pages of the sequence.
struct Paged {
  const fp8 *first;
  int step, shift;
  const int *table;
  MOVES const fp8 *at(int row) const {
    const int page = constant(table, row >> shift), rest = row & ((1 << shift) - 1);
    return first + (((size_t)page << shift) + rest) * step;
  }
};

// The 16-byte column of a row moves by three bits of the row, so that reads are free of conflicts: on gfx950 of both kinds,
// on gfx942 those of K, as those of V are without.
MOVES unsigned swizzle(unsigned row) {
#if defined(__gfx950__)
  return (row >> 2 & 1) | (row & 2) | (row >> 1 & 4);
#else
  return row & 7;
#endif
}
#if defined(__gfx950__)
#define V_SWIZZLED true
#else
#define V_SWIZZLED false
#endif

// Start to load rows `key` onwards to the LDS, by WAVES waves. Eight rows lie in one page; the LDS fills lane by lane, so it
// is the columns of global memory that are exchanged. Rows beyond the last key are 0: a weight of 0 must not meet a NaN there.
template <int WAVES, bool SWIZZLED, class Rows>
MOVES void fetch(char *tile, const Rows &rows, int key, int keys, unsigned wave, unsigned lane) {
#pragma unroll
  for (int n = 0; n < KEYS / 8 / WAVES; ++n) {
    const int eight = 8 * (n * WAVES + wave), row = key + eight, left = min(keys - row, 8);
    const int bytes = left > 0 ? (left - 1) * rows.step + HEAD : 0;
    const auto source = __builtin_amdgcn_make_buffer_rsrc((void *)rows.at(min(row, keys - 1)), 0, bytes, 0x27000);
    constexpr int LANES_A_ROW = HEAD / LANE_BYTES;
#pragma unroll
    for (int m = 0; m < 8; m += 64 / LANES_A_ROW) {
      const unsigned one = m + lane / LANES_A_ROW, byte = lane % LANES_A_ROW * LANE_BYTES;
      const unsigned from = SWIZZLED ? byte ^ swizzle(eight + one) * 16 : byte;
      __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (mfmasim_lds_void *)(tile + (eight + m) * HEAD), LANE_BYTES,
                                               one * rows.step + from, 0, 0, 0);
    }
  }
}

// 32 bytes of a lane: with those of the other half of the wave 64 of what is summed.
struct Operand {
  words4 low, high;
};
MOVES void arrived(Operand &x) { asm volatile("" : "+v"(x.low), "+v"(x.high)); }
#define START_K(to, address, offset) \
  asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(to) : "v"(address), "i"(offset) : "memory")
#if defined(__gfx950__)
#define START_V(to, address, offset) \
  asm volatile("ds_read_b64_tr_b8 %0, %1 offset:%2" : "=v"(to) : "v"(address), "i"(offset) : "memory")
#else
#define START_V(to, address, offset) \
  asm volatile("ds_read_b32 %0, %1 offset:%2" : "=v"(to) : "v"(address), "i"(offset) : "memory")
#endif

// V of a tile for one wave: four times 32 of the head, 64 keys in the order of the scores.
#if defined(__gfx950__)
struct Values {
  words2 of[4][4];
  // Rows of 16 bytes of which the head's elements 32 i + lane % 32 are columns.
  static MOVES unsigned address(unsigned lane, unsigned i) {
    // Of a transposed read, sixteen lanes name eight rows, two lanes each, and lane t of them receives column t.
    const unsigned two = lane % 16 / 2, row = two / 4 * 8 + lane / 32 * 4 + two % 4;
    return row * HEAD + ((2 * i + lane / 16 % 2) ^ swizzle(row)) * 16 + lane % 2 * 8;
  }
  template <int SLOT>
  MOVES void start(const unsigned (&at)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int n = 0; n < 4; ++n) START_V(of[i][n], at[i], (2 + SLOT) * TILE + n * 16 * HEAD);
  }
  MOVES void arrived() {
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+v"(of[i][0]), "+v"(of[i][1]), "+v"(of[i][2]), "+v"(of[i][3]));
  }
  MOVES words8 operand(int i) const { return __builtin_bit_cast(words8, of[i]); }
};
// The element of the head that register r of the sums `i` has.
MOVES unsigned element(unsigned i, unsigned r, unsigned half) { return 32 * i + r / 4 * 8 + 4 * half + r % 4; }
#else
struct Values {
  int of[8][4];  // four elements of four keys: 8 n + 4 half onwards
  static MOVES unsigned address(unsigned lane, unsigned) { return lane / 32 * 4 * HEAD + lane % 32 * 4; }
  template <int SLOT>
  MOVES void start(const unsigned (&at)[4]) {
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) START_V(of[n][e], at[0], (2 + SLOT) * TILE + (8 * n + e) * HEAD);
  }
  // Four keys of an element become a word.
  MOVES void arrived() {
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      int(&x)[4] = of[n];
      asm volatile("" : "+v"(x[0]), "+v"(x[1]), "+v"(x[2]), "+v"(x[3]));
#define PERM(high, low, bytes) (int)__builtin_amdgcn_perm(high, low, bytes)
      const int a = PERM(x[1], x[0], 0x05010400u), b = PERM(x[1], x[0], 0x07030602u);
      const int c = PERM(x[3], x[2], 0x05010400u), d = PERM(x[3], x[2], 0x07030602u);
      x[0] = PERM(c, a, 0x05040100u), x[1] = PERM(c, a, 0x07060302u);
      x[2] = PERM(d, b, 0x05040100u), x[3] = PERM(d, b, 0x07060302u);
#undef PERM
    }
  }
  MOVES words8 operand(int i) const {
    return words8{of[0][i], of[1][i], of[2][i], of[3][i], of[4][i], of[5][i], of[6][i], of[7][i]};
  }
};
MOVES unsigned element(unsigned i, unsigned r, unsigned half) { return i + (r / 4 * 8 + 4 * half + r % 4) * 4; }
#endif

template <class A, class B>
MOVES f32x16 multiply(const A &a, const B &b, f32x16 c) {
#if defined(__gfx950__)
  // Literal zeros for both scales: the instruction without scales.
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(__builtin_bit_cast(words8, a), __builtin_bit_cast(words8, b), c, 0,
                                                         0, 0, 0, 0, 0);
#else
  typedef long i64x4 __attribute__((ext_vector_type(4)));
  const i64x4 x = __builtin_bit_cast(i64x4, a), y = __builtin_bit_cast(i64x4, b);
#pragma unroll
  for (int n = 0; n < 4; ++n) c = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(x[n], y[n], c, 0, 0, 0);
  return c;
#endif
}
// x of the lane of the lower half, and of the upper one. (Clang 22.1 reads element 0, whatever element of a vector
// __builtin_bit_cast is given, hence the names.)
struct Halves {
  float lower, upper;
};
MOVES Halves halves_of(float x) {
  const int code = __builtin_bit_cast(int, x);
#if defined(__gfx950__)
  const auto swapped = __builtin_amdgcn_permlane32_swap(code, code, false, false);
  const int lower = swapped[0], upper = swapped[1];
  return {__builtin_bit_cast(float, lower), __builtin_bit_cast(float, upper)};
#else
  const float other = __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((threadIdx.x % 64 ^ 32) * 4, code));
  return threadIdx.x % 64 < 32 ? Halves{x, other} : Halves{other, x};
#endif
}

// One wave's part: 32 queries, whose scores, weights and sums are in the lanes `column` and `column` + 32.
struct Wave {
  unsigned lane = threadIdx.x % 64, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
  unsigned column = lane % 32, half = lane / 32;
  unsigned k_at[4], v_at[4];
  Operand q[2];
  float by;                                      // of a product, so that 2 to its power is the weight
  float reference = MINUS_INFINITY, base = 0.0f;  // of the products; base is what is subtracted from the exponents
  f32x2 total[2] = {};                           // weights of this lane's keys, before they are quantised
  words8 p = {};                                 // and quantised, four a word
  f32x16 out[4] = {};

  MOVES Wave(const char *lds, float by) : by(by) {
    const unsigned start = LDS_ADDRESS(lds);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) k_at[i] = start + column * HEAD + ((2 * i + half) ^ swizzle(column)) * 16;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) v_at[i] = start + Values::address(lane, i);
  }
  // Rows of Q from `first` on, `there` of them; the others are 0.
  MOVES void fetch_queries(const fp8 *first, int step, int there) {
    const auto source = __builtin_amdgcn_make_buffer_rsrc((void *)first, 0, there > 0 ? (there - 1) * step + HEAD : 0, 0x27000);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned at = column * step + 64 * i + 16 * half;
      q[i].low = __builtin_bit_cast(words4, __builtin_amdgcn_raw_buffer_load_b128(source, at, 0, 0));
      q[i].high = __builtin_bit_cast(words4, __builtin_amdgcn_raw_buffer_load_b128(source, at + 32, 0, 0));
    }
  }
  // K: two times 32 keys, two times 64 of the head.
  template <int SLOT>
  MOVES void start_k(Operand (&k)[2][2]) const {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        START_K(k[t][i].low, k_at[2 * i], SLOT * TILE + t * 32 * HEAD);
        START_K(k[t][i].high, k_at[2 * i + 1], SLOT * TILE + t * 32 * HEAD);
      }
  }
  MOVES void scores(f32x16 (&s)[2], Operand (&k)[2][2]) const {
#pragma unroll
    for (int t = 0; t < 2; ++t) s[t] = multiply(k[t][1], q[1], multiply(k[t][0], q[0], f32x16{}));
  }
  // The key of a score within its tile is 32 t + 8 (r / 4) + 4 half + r % 4.
  MOVES void hide(f32x16 (&s)[2], int seen) const {
    const int limit = seen - 4 * (int)half;
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int r = 0; r < 16; ++r) s[t][r] = 32 * t + r / 4 * 8 + r % 4 < limit ? s[t][r] : MINUS_INFINITY;
  }
  // The reference follows where the largest score has grown too far.
  MOVES void follow(const f32x16 (&s)[2]) {
    float most = MINUS_INFINITY;
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int r = 0; r < 16; ++r) most = __builtin_fmaxf(most, s[t][r]);
    const Halves both = halves_of(most);
    most = __builtin_fmaxf(__builtin_fmaxf(both.lower, both.upper), reference);
    if (__builtin_amdgcn_ballot_w64((most - reference) * by > HEADROOM) == 0) return;
    const float finite = most == MINUS_INFINITY ? 0.0f : most;  // a query that has seen no key
    const float kept = __builtin_amdgcn_exp2f((reference - finite) * by);
    reference = most;
    base = __builtin_fmaf(finite, by, -SHIFT);
    total[0] *= kept, total[1] *= kept;
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] *= kept;
  }
  MOVES void weigh(const f32x16 (&s)[2]) {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int r = 0; r < 16; r += 4) {
        f32x2 w[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const f32x2 x = {s[t][r + 2 * i], s[t][r + 2 * i + 1]};
          const f32x2 power = __builtin_elementwise_fma(x, f32x2{by, by}, f32x2{-base, -base});
          w[i] = f32x2{__builtin_amdgcn_exp2f(power[0]), __builtin_amdgcn_exp2f(power[1])};
          total[i] += w[i];
        }
        const int low = __builtin_amdgcn_cvt_pk_fp8_f32(w[0][0], w[0][1], p[4 * t + r / 4], false);
        p[4 * t + r / 4] = __builtin_amdgcn_cvt_pk_fp8_f32(w[1][0], w[1][1], low, true);
      }
  }
  MOVES void add(const Values &v) {
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] = multiply(v.operand(i), p, out[i]);
  }
  // Weights of all keys, in both lanes of the query.
  MOVES float sum_of_weights() const {
    const Halves both = halves_of((total[0][0] + total[1][0]) + (total[0][1] + total[1][1]));
    return both.lower + both.upper;
  }
};

// Two tiles on their way: while the scores of tile t become weights, those of tile t + 1 are multiplied, and the rows of
// K of tile t + 2 and of V of tile t + 1 are loaded. A turn of the loop is two tiles, so that nothing is copied. The last
// turn multiplies a tile of zeros more.
//
// `seen` keys are visible to the lane's query, `all` to every query of the wave; `from` is the first key.
template <int WAVES, class Rows>
MOVES void attend(Wave &w, char *lds, const Rows &k_rows, const Rows &v_rows, int from, int keys, int tiles, int seen, int all) {
  Operand k[2][2];
  Values v;
  f32x16 s[2][2];
#define FETCH_K(slot, t) fetch<WAVES, true>(lds + (slot) * TILE, k_rows, from + (t) * KEYS, keys, w.wave, w.lane)
#define FETCH_V(slot, t) fetch<WAVES, V_SWIZZLED>(lds + (2 + (slot)) * TILE, v_rows, from + (t) * KEYS, keys, w.wave, w.lane)
#define K_READ()                                      \
  WAIT_LDS(); /* K is read */                         \
  _Pragma("unroll") for (int i = 0; i < 4; ++i) arrived(k[i / 2][i % 2])
#define V_READ()                                      \
  WAIT_LDS(); /* V is read */                         \
  v.arrived()
#define ALL_FETCHED() WAIT_DIRECT(0)  // K of the next tile, V of this one
#define ALL_READ() BARRIER()          // by all waves; and what was there before is read
#define STEP(slot, t)                                 \
  ALL_FETCHED();                                      \
  ALL_READ();                                         \
  FETCH_K(slot, (t) + 2);                             \
  FETCH_V((slot) ^ 1, (t) + 1);                       \
  w.start_k<(slot) ^ 1>(k);                           \
  if (from + ((t) + 1) * KEYS > all) w.hide(s[slot], seen - from - (t) * KEYS); \
  w.follow(s[slot]);                                  \
  K_READ();                                           \
  v.start<slot>(w.v_at);                              \
  w.scores(s[(slot) ^ 1], k);                         \
  w.weigh(s[slot]);                                   \
  V_READ();                                           \
  w.add(v)

  FETCH_K(0, 0);
  WAIT_DIRECT(0);  // first tile of K: fetched
  BARRIER();       // first tile of K: by all waves
  FETCH_K(1, 1);
  FETCH_V(0, 0);
  w.start_k<0>(k);
  K_READ();
  w.scores(s[0], k);
  int t = 0;
  for (; t + 1 < tiles; t += 2) {
    STEP(0, t);
    STEP(1, t + 1);
  }
  if (t < tiles) {
    STEP(0, t);
  }
#undef FETCH_K
#undef FETCH_V
#undef K_READ
#undef V_READ
#undef ALL_FETCHED
#undef ALL_READ
#undef STEP
}
