// The same attention on gfx1250, waves of 32 lanes: tiles of 128 keys come by the tensor data mover.
//
// Both products are transposed here too, S^T = K Q^T and O^T = V^T P^T. D of 16x16 gives lane l the keys 8 (l / 16) + r of
// query l % 16 in register r, and B of v_wmma_f32_16x16x128_fp8_fp8 wants of lane l the keys 16 n + 8 (l / 16) + b in byte 8 n
// + b: eight scores, quantised by one instruction, are two dwords of the operand, in the instruction's own order. Of V, rows in
// the LDS, ds_load_tr8_b64 reads the same runs of eight keys.
//
// The mover leaves 16 bytes behind each row of 128. Rows then begin 36 banks apart, so that 16 rows of 16 bytes, what one phase
// of either read has, are in all 64 banks.
#pragma once
#include "common.h"

typedef int words16 __attribute__((ext_vector_type(16)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

#define PITCH (HEAD + 16)
#define TILE (KEYS * PITCH)  // bytes
#define LDS __attribute__((address_space(3)))
#define WAIT_TENSOR(count) asm volatile("s_wait_tensorcnt " #count ::: "memory")
#define UNROLL _Pragma("unroll")
#define STAGE() __builtin_amdgcn_sched_barrier(0)  // the compiler moves nothing across
#define AHEAD_K 2  // parts of a tile that are read before they are needed
#define AHEAD_V 4

// Start to move `rows` rows to the LDS. Those behind the last, of which `left` are there, arrive as 0: a weight of 0 must not
// meet a NaN there.
MOVES void fetch(unsigned to, const fp8 *from, int step, int rows, int left) {
  const size_t place = (size_t)from;
  const words4 where = {1, (int)to, (int)place, (int)(place >> 32 & 0x1FFFFFF) | (int)0x80000000};
  const int there = max(left, 0), padding = 1 << 20 | 4 << 22 | 3 << 25;  // 4 dwords after each 32
  const words8 shape = {padding, HEAD << 16, there << 16, (int)((unsigned)there >> 16) | HEAD << 16, rows, step, 0, 0};
  __builtin_amdgcn_tensor_load_to_lds_d2(where, shape, 0);
}

// 16 bytes of each 32 of a row: what a lane holds of 128 elements in v_wmma_f32_16x16x128_f8f6f4.
MOVES words16 row_of(unsigned at) {
  words4 part[4];
  UNROLL for (int i = 0; i < 4; ++i) part[i] = *(const LDS words4 *)(at + 32 * i);
  return __builtin_bit_cast(words16, part);
}
// 128 keys of one of 16 elements of the head.
MOVES words16 column_of(unsigned at) {
  words2 part[8];
  UNROLL for (int n = 0; n < 8; ++n) part[n] = __builtin_amdgcn_ds_load_tr8_b64_v2i32((LDS words2 *)(at + 16 * n * PITCH));
  return __builtin_bit_cast(words16, part);
}

// Vector instructions that must lie between a product and one that overwrites its operands (CDNA5 ISA manual, 7.12.1): clang
// 22 leaves some out where a loop begins or goes on.
MOVES void settle(f32x8 &sum) {
  asm volatile("v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop" : "+v"(sum));
}

// x of the lanes of both halves.
struct Halves {
  float lower, upper;
};
MOVES Halves halves_of(float x) {
  const int code = __builtin_bit_cast(int, x);
  const auto swapped = __builtin_amdgcn_permlane16_swap(code, code, false, false);
  const int lower = swapped[0], upper = swapped[1];
  return {__builtin_bit_cast(float, lower), __builtin_bit_cast(float, upper)};
}

// One wave's part: 32 queries, two for each lane: `column` and `column` + 16.
struct Wave {
  unsigned lane = threadIdx.x % 32, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 32);
  unsigned column = lane % 16, half = lane / 16;
  unsigned row_at = column * PITCH + 16 * half;  // of 16 rows whose elements are summed
  // Of a transposed read, lane l receives what four lanes of its half and four others name: column l % 16 of eight rows.
  unsigned column_at = (8 * half + lane % 4 + lane / 8 % 2 * 4) * PITCH + lane / 4 % 2 * 8;
  float by;
  float reference[2] = {MINUS_INFINITY, MINUS_INFINITY}, base[2] = {};  // as on gfx950
  f32x2 total[2][2] = {};
  words16 q[2];
  f32x8 s[8][2];        // scores of 16 keys
  words2 p[2][8] = {};  // weights of them, quantised
  f32x8 out[8][2] = {};  // 16 elements of the head

  MOVES explicit Wave(float by) : by(by) {}

  MOVES void read_queries(unsigned at) {
    UNROLL for (int c = 0; c < 2; ++c) q[c] = row_of(at + row_at + 16 * c * PITCH);
  }
  // Scores of 16 keys, and sums of 16 elements of the head.
  MOVES words16 read_keys(unsigned at, int j) const { return row_of(at + row_at + 16 * j * PITCH); }
  MOVES words16 read_values(unsigned at, int i) const { return column_of(at + column_at + 16 * i); }
  MOVES void score(int j, words16 k) {
    UNROLL for (int c = 0; c < 2; ++c) s[j][c] = __builtin_amdgcn_wmma_f32_16x16x128_f8f6f4(0, k, 0, q[c], 0, f32x8{});
  }
  // The key of a score within its tile is 16 j + 8 half + r.
  MOVES void hide(const int (&seen)[2]) {
    UNROLL for (int c = 0; c < 2; ++c) {
      const int limit = seen[c] - 8 * (int)half;
      UNROLL for (int j = 0; j < 8; ++j)
        UNROLL for (int r = 0; r < 8; ++r) s[j][c][r] = 16 * j + r < limit ? s[j][c][r] : MINUS_INFINITY;
    }
  }
  // The references follow where a largest score has grown too far.
  MOVES void follow() {
    float most[2];
    bool grown = false;
    UNROLL for (int c = 0; c < 2; ++c) {
      float own = MINUS_INFINITY;
      UNROLL for (int j = 0; j < 8; ++j)
        UNROLL for (int r = 0; r < 8; ++r) own = __builtin_fmaxf(own, s[j][c][r]);
      const Halves both = halves_of(own);
      most[c] = __builtin_fmaxf(__builtin_fmaxf(both.lower, both.upper), reference[c]);
      grown |= (most[c] - reference[c]) * by > HEADROOM;
    }
    if (__builtin_amdgcn_ballot_w32(grown) == 0) return;
    UNROLL for (int c = 0; c < 2; ++c) {
      const float finite = most[c] == MINUS_INFINITY ? 0.0f : most[c];  // a query that has seen no key
      const float kept = __builtin_amdgcn_exp2f((reference[c] - finite) * by);
      reference[c] = most[c];
      base[c] = __builtin_fmaf(finite, by, -SHIFT);
      total[c][0] *= kept, total[c][1] *= kept;
      UNROLL for (int i = 0; i < 8; ++i) out[i][c] *= kept;
    }
  }
  MOVES void weigh(int j) {
    UNROLL for (int c = 0; c < 2; ++c) {
      f32x8 w;
      UNROLL for (int r = 0; r < 8; r += 2) {
        const f32x2 x = {s[j][c][r], s[j][c][r + 1]};
        const f32x2 power = __builtin_elementwise_fma(x, f32x2{by, by}, f32x2{-base[c], -base[c]});
        const f32x2 two = {__builtin_amdgcn_exp2f(power[0]), __builtin_amdgcn_exp2f(power[1])};
        total[c][r / 2 % 2] += two;
        w[r] = two[0], w[r + 1] = two[1];
      }
      p[c][j] = __builtin_bit_cast(words2, __builtin_amdgcn_cvt_scalef32_pk8_fp8_f32(w, 1.0f));
    }
  }
  MOVES void add(int i, words16 v) {
    UNROLL for (int c = 0; c < 2; ++c)
      out[i][c] = __builtin_amdgcn_wmma_f32_16x16x128_fp8_fp8(v, __builtin_bit_cast(words16, p[c]), 0, out[i][c], false, false);
  }
  // Weights of all keys, in both lanes of a query.
  MOVES float sum_of_weights(int c) const {
    const Halves both = halves_of((total[c][0][0] + total[c][1][0]) + (total[c][0][1] + total[c][1][1]));
    return both.lower + both.upper;
  }
};

// Two slots for each of K and V. While the scores of tile t become weights, those of tile t + 1 take their registers, and K of
// tile t + 2 and V of tile t + 1 are moved, by each wave its part of the rows. The last turn multiplies a tile of zeros more.
//
// `seen` keys are visible to the lane's queries, `all` to every query of the wave.
template <int WAVES>
MOVES void attend(Wave &w, unsigned lds, const Following &k, const Following &v, int keys, int tiles, const int (&seen)[2], int all) {
  constexpr int PART = KEYS / WAVES;
  const int mine = w.wave * PART;
#define FETCH(rows, slot, t) \
  fetch(lds + (slot) * TILE + mine * PITCH, rows.at((t) * KEYS + mine), rows.step, PART, keys - (t) * KEYS - mine)
  FETCH(k, 0, 0);
  WAIT_TENSOR(0);  // first tile of K: moved
  BARRIER();       // first tile of K: by all waves
  FETCH(k, 1, 1);
  FETCH(v, 2, 0);
  UNROLL for (int j = 0; j < 8; ++j) w.score(j, w.read_keys(lds, j));
  settle(w.s[7][1]);
  for (int t = 0; t < tiles; ++t) {
    const int now = t % 2, next = now ^ 1;
    WAIT_TENSOR(0);  // K of the next tile, V of this one
    SYNC();          // by all waves; and what was there before is read
    FETCH(k, now, t + 2);
    FETCH(v, 2 + next, t + 1);
    words16 k_part[8], v_part[8];
    UNROLL for (int j = 0; j < AHEAD_K; ++j) k_part[j] = w.read_keys(lds + next * TILE, j);
    if ((t + 1) * KEYS > all) {
      const int left[2] = {seen[0] - t * KEYS, seen[1] - t * KEYS};
      w.hide(left);
    }
    w.follow();
    STAGE();
    UNROLL for (int j = 0; j < 8; ++j) {
      if (j + AHEAD_K < 8) k_part[j + AHEAD_K] = w.read_keys(lds + next * TILE, j + AHEAD_K);
      if (j >= 8 - AHEAD_V) v_part[j + AHEAD_V - 8] = w.read_values(lds + (2 + now) * TILE, j + AHEAD_V - 8);
      w.weigh(j);
      w.score(j, k_part[j]);
      STAGE();
    }
    UNROLL for (int i = 0; i < 8; ++i) {
      if (i + AHEAD_V < 8) v_part[i + AHEAD_V] = w.read_values(lds + (2 + now) * TILE, i + AHEAD_V);
      w.add(i, v_part[i]);
      STAGE();
    }
    settle(w.out[7][1]);
  }
#undef FETCH
}
