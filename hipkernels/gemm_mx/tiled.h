// C = alpha (A * scale_A) (B * scale_B)^T + beta C as in scaled.h, with larger tiles: four waves, two by two, compute 128x128
// of C, each 64x64. Elements and scales are fetched straight to the LDS, in two slots: while one tile of K is multiplied, the
// next one is on its way. M, N and K are multiples of 128; the address of every row of A and B, of 16.
//
// The scales come in the order that the kernel is made for (orders.h).
#pragma once
#include "orders.h"

#define WAVES 4
#define BLOCK 128

// Where the 16 bytes `chunk` of a row lie in it, so that reads are free of bank conflicts: of 16 rows in all formats, of 32
// rows with 8 and 4 bits. `home` is the inverse.
template <typename F>
MOVES unsigned place(unsigned row, unsigned chunk) {
  if constexpr (F::bits == 8) return chunk ^ (row >> 1 & 7);
  if constexpr (F::bits == 6) return (chunk + row / 8) % 6;
  return chunk ^ (row >> 2 & 2) ^ (row >> 4 & 1);
}
template <typename F>
MOVES unsigned home(unsigned row, unsigned chunk) {
  if constexpr (F::bits == 6) return (chunk + 6 - row / 8 % 6) % 6;
  return place<F>(row, chunk);
}

// Start to fetch 128 rows from byte k on; the LDS fills without gaps, so it is the bytes of memory that change places.
template <typename F>
MOVES void fetch(char *tile, __amdgpu_buffer_rsrc_t source, int step, int k, unsigned wave, unsigned lane) {
  constexpr unsigned chunks = F::row / 16;
#pragma unroll
  for (unsigned n = 0; n < BLOCK * chunks / (64 * WAVES); ++n) {
    const unsigned start = (n * WAVES + wave) * 64, row = (start + lane) / chunks, chunk = (start + lane) % chunks;
    __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (mfmasim_lds_void *)(tile + start * 16), 16,
                                             row * step + home<F>(row, chunk) * 16, k, 0, 0);
  }
}

#define START(OP, to, at) asm volatile(OP " %0, %1" : "=v"(to) : "v"(LDS_ADDRESS(at)) : "memory")
#define ARRIVED(x) asm volatile("" : "+v"(x))

// The 32 elements that a lane gives to an instruction, by the bits of one; nothing waits for a read until the kernel does.
template <typename S, typename F, int BITS = F::bits>
struct Fragment {  // 8 bits
  words4 low, high;
  MOVES void start(const char *tile, unsigned row, unsigned step, unsigned lane) {
    row += lane % S::rows;
    const unsigned chunk = step * 2 * S::groups + lane / S::rows;
    START("ds_read_b128", low, tile + row * F::row + place<F>(row, chunk) * 16);
    START("ds_read_b128", high, tile + row * F::row + place<F>(row, chunk + S::groups) * 16);
  }
  MOVES void arrived() {
    ARRIVED(low);
    ARRIVED(high);
  }
  MOVES i32x8 whole() const {
    return __builtin_bit_cast(i32x8, __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
  }
};
template <typename S, typename F>
struct Fragment<S, F, 6> {
  words2 part[3];
  MOVES void start(const char *tile, unsigned row, unsigned step, unsigned lane) {
    row += lane % S::rows;
#pragma unroll
    for (unsigned n = 0; n < 3; ++n) {
      const unsigned byte = (step * S::groups + lane / S::rows) * 24 + 8 * n;
      START("ds_read_b64", part[n], tile + row * F::row + place<F>(row, byte / 16) * 16 + byte % 16);
    }
  }
  MOVES void arrived() {
    ARRIVED(part[0]);
    ARRIVED(part[1]);
    ARRIVED(part[2]);
  }
  MOVES i32x8 whole() const {
    return i32x8{(int)part[0].x, (int)part[0].y, (int)part[1].x, (int)part[1].y, (int)part[2].x, (int)part[2].y, 0, 0};
  }
};
template <typename S, typename F>
struct Fragment<S, F, 4> {
  words4 all;
  MOVES void start(const char *tile, unsigned row, unsigned step, unsigned lane) {
    row += lane % S::rows;
    START("ds_read_b128", all, tile + row * F::row + place<F>(row, step * S::groups + lane / S::rows) * 16);
  }
  MOVES void arrived() { ARRIVED(all); }
  MOVES i32x8 whole() const { return i32x8{(int)all.x, (int)all.y, (int)all.z, (int)all.w, 0, 0, 0, 0}; }
};

// What is done for each number below N, as a constant: the instruction has the bytes of its scales in its text.
template <int VALUE>
struct Number {
  static constexpr int value = VALUE;
};
template <int N, int I = 0, typename Body>
MOVES void each(Body body) {
  if constexpr (I < N) {
    body(Number<I>{});
    each<N, I + 1>(body);
  }
}

template <typename S, typename FA, typename FB, typename O>
__device__ __attribute__((always_inline)) void tiled(const fp8 *SA, const fp8 *SB, const Gemm &g) {
  constexpr int TILES = 64 / S::rows, STEPS = steps<S>;
  __shared__ __attribute__((aligned(16))) char a_tile[2][BLOCK * FA::row], b_tile[2][BLOCK * FB::row];
  __shared__ unsigned a_scales[2][O::words], b_scales[2][O::words];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 64, wave_n = wave % 2 * 64;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK, a_step = g.lda * FA::bits / 8, b_step = g.ldb * FB::bits / 8;
  const auto a_rows = rows_of(g.A, row, a_step, FA::bits * g.K / 8), b_rows = rows_of(g.B, column, b_step, FB::bits * g.K / 8);
  const Scales scales = {scales_of(SA, g.M, g.K), scales_of(SB, g.N, g.K), row, column, g.M, g.N, g.K};

  typename S::Sum sum[TILES][TILES] = {};
  fetch<FA>(a_tile[0], a_rows, a_step, 0, wave, lane);
  fetch<FB>(b_tile[0], b_rows, b_step, 0, wave, lane);
  O::fetch(a_scales, b_scales, scales, 0, wave, lane);
  WAIT_DIRECT(0);  // first tile: fetched
  BARRIER();       // first tile: by all waves
  const int tiles = g.K / TILE_K;
  for (int t = 0, slot = 0; t < tiles; ++t, slot ^= 1) {
    if (t + 1 < tiles) {
      fetch<FA>(a_tile[slot ^ 1], a_rows, a_step, (t + 1) * FA::row, wave, lane);
      fetch<FB>(b_tile[slot ^ 1], b_rows, b_step, (t + 1) * FB::row, wave, lane);
      O::fetch(a_scales, b_scales, scales, t + 1, wave, lane);
    }
    Fragment<S, FA> a[STEPS][TILES];
    Fragment<S, FB> b[STEPS][TILES];
    typename O::template Held<S> scale_a, scale_b;
    scale_a.start(a_scales[O::slot(t)], wave_m, lane);
    scale_b.start(b_scales[O::slot(t)], wave_n, lane);
#pragma unroll
    for (int h = 0; h < STEPS; ++h)
#pragma unroll
      for (int i = 0; i < TILES; ++i) {
        a[h][i].start(a_tile[slot], wave_m + S::rows * i, h, lane);
        b[h][i].start(b_tile[slot], wave_n + S::rows * i, h, lane);
      }
    WAIT_LDS();  // fragments and scales
    scale_a.arrived(t, lane);
    scale_b.arrived(t, lane);
#pragma unroll
    for (int h = 0; h < STEPS; ++h)
#pragma unroll
      for (int i = 0; i < TILES; ++i) a[h][i].arrived(), b[h][i].arrived();
    each<STEPS>([&](auto h) {
      each<TILES>([&](auto i) {
        each<TILES>([&](auto j) {
          typedef typename O::template Held<S> Held;
          typename S::Sum &c = sum[i.value][j.value];
          constexpr int byte_a = Held::byte(i.value, h.value), byte_b = Held::byte(j.value, h.value);
          c = S::template multiply<FA::code, FB::code, byte_a, byte_b>(a[h.value][i.value].whole(), b[h.value][j.value].whole(),
                                                                       c, scale_a.word(i.value), scale_b.word(j.value));
        });
      });
    });
    // All of this tile is multiplied before the next one is waited for.
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int j = 0; j < TILES; ++j) ARRIVED(sum[i][j]);
    if (t + 1 < tiles) {
      WAIT_DIRECT(0);  // next tile: fetched
      BARRIER();       // next tile: by all waves, and no wave reads this one any more
    }
  }
#pragma unroll
  for (int i = 0; i < TILES; ++i)
#pragma unroll
    for (int j = 0; j < TILES; ++j)
      S::finish(g, row + wave_m + S::rows * i, column + wave_n + S::rows * j, sum[i][j], lane);
}

#define KERNEL(NAME, S, FA, FB, O)                                                                                     \
  extern "C" __global__ void __launch_bounds__(64 * WAVES)                                                             \
      NAME##_##FA##_##FB(const fp8 *A, const fp8 *B, const fp8 *SA, const fp8 *SB, bf16 *C, int M, int N, int K,       \
                         int lda, int ldb, int ldc, float alpha, float beta) {                                         \
    tiled<S, FA, FB, O>(SA, SB, {A, B, C, M, N, K, lda, ldb, ldc, alpha, beta});                                       \
  }
