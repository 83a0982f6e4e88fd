// 8-wave ping-pong: two halves of a workgroup take turns. While one half moves data, the other one multiplies.
//
// A workgroup of 8 waves, 2 x 4, computes four quadrants of C. A and B have two slots in the LDS, each in two halves; each
// half is a tile of HALF rows and 128 of K. A wave has 64x32 of each quadrant (32x16 on gfx942, whose LDS is smaller).
// At least two tiles of K: the prologue fetches the second one without asking whether it is there.
//
// The waves of the upper half (wave_m = 1) wait at one barrier more before they start, and the others at one more before
// they end. In between both execute the same barriers, but one barrier apart: when one half multiplies between two barriers,
// the other half reads the LDS and fetches.
#pragma once
#include "../tile.h"

#if defined(__gfx950__)
#define HALF 128
#else
#define HALF 64
#endif
#define WAVES 8
#define A_TILES (HALF / 2 / 16)  // fragments that a wave has of a half of A: its 64 (32) rows
#define B_TILES (HALF / 4 / 16)
#if defined(MXFP4)
#include "mx.h"
#else
#include "operands.h"
#endif

#define WAIT_FETCHES(halves) asm volatile("s_waitcnt vmcnt(%0)" ::"n"((halves) * FETCHES) : "memory")
#define WAIT_READS(count) asm volatile("s_waitcnt lgkmcnt(%0)" ::"n"(count) : "memory")
#define FENCE() __builtin_amdgcn_sched_barrier(0)  // the compiler moves nothing across

// What differs between the right schedule and the wrong ones that were published; all others are as here.
struct Right {
  // A half of A is fetched anew one turn after its readers have waited for their reads.
  static constexpr bool early_a = false;
  // The last tile is read when its loads have been waited for by all waves.
  static constexpr bool early_read = false;
  // Both halves of the workgroup pass as many barriers.
  static constexpr bool balanced = true;
};
struct PrintedLoop : Right {
  static constexpr bool early_a = true;
};
struct RacyEpilogue : Right {
  static constexpr bool early_read = true;
};
struct BarrierParity : Right {
  static constexpr bool balanced = false;
};

// Keeps the compiler from moving the matrix instructions of a quadrant out of their turn.
template <int ROWS, int COLUMNS>
MOVES void stay(f32x4 (&c)[ROWS][COLUMNS]) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) asm volatile("" : "+v"(c[i][j]));
}

// A quadrant: all fragments of A with all of B, at a higher priority than the half that moves data.
template <typename D, typename A, typename B>
__device__ __attribute__((always_inline)) void multiply_all(f32x4 (&c)[A_TILES][B_TILES], A &a, B &b) {
  FENCE();
  __builtin_amdgcn_s_setprio(1);
#pragma unroll
  for (int n = 0; n < D::STEPS * A_TILES * B_TILES; ++n) D::product(c, a, b, n);
  stay(c);
  __builtin_amdgcn_s_setprio(0);
  FENCE();
}
template <typename D, typename O>
MOVES void read_all(O &to, From from, int reads) {
#pragma unroll
  for (int r = 0; r < reads; ++r) D::start(to, from, r);
}

#define OF_A (A_TILES * READS + D::SCALE_READS)  // reads of a half of A: by so much lgkmcnt rises
#define OF_B (B_TILES * READS + D::SCALE_READS)
#define FETCH_A(slot, half, k) d.fetch_half(d.into_a(slot, half, k))
#define FETCH_B(slot, half, k) d.fetch_half(d.into_b(slot, half, k))
#define READ_A(a, slot, half) read_all<D>(a, d.from_a(slot, half), OF_A)
#define READ_B(b, slot, half) read_all<D>(b, d.from_b(slot, half), OF_B)

// C leaves as the operands store it. Other epilogues have the same method.
template <typename D>
struct Stored {
  const typename D::Problem &g;
  MOVES void finish(int row, int column, f32x4 (&c00)[A_TILES][B_TILES], f32x4 (&c01)[A_TILES][B_TILES],
                    f32x4 (&c10)[A_TILES][B_TILES], f32x4 (&c11)[A_TILES][B_TILES], unsigned lane) const {
#define STORE(i, j) D::store(p, row + (i) * HALF, column + (j) * HALF, c##i##j, lane)
    FINISH(g, p, (STORE(0, 0), STORE(0, 1), STORE(1, 0), STORE(1, 1)))
#undef STORE
  }
};

template <typename D, typename V, typename E>
__device__ __attribute__((always_inline)) void pingpong(const typename D::Problem &g, const E &epilogue) {
  __shared__ __attribute__((aligned(16))) Tiles a_tile, b_tile;
  __shared__ __attribute__((aligned(16))) char scales[2 * D::SCALE_BYTES];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 4, wave_n = wave % 4;
  const int row = blockIdx.y * (2 * HALF), column = blockIdx.x * D::COLUMNS;
  const D d(g, row, column, a_tile, b_tile, scales, wave, lane, wave_m * (HALF / 2), wave_n * (HALF / 4));
  typename D::template Operand<A_TILES> a;
  typename D::template Operand<B_TILES> b0, b1;
  f32x4 c00[A_TILES][B_TILES] = {}, c01[A_TILES][B_TILES] = {}, c10[A_TILES][B_TILES] = {}, c11[A_TILES][B_TILES] = {};
  int tic = 0, toc = 1;

  d.fetch_scales(tic, 0);
  FETCH_B(tic, 0, 0);
  FETCH_A(tic, 0, 0);
  FETCH_B(tic, 1, 0);
  FETCH_A(tic, 1, 0);
  if (wave_m == 1) BARRIER();  // from here on one barrier behind
  WAIT_FETCHES(2);             // prologue: the first halves of tile 0
  BARRIER();
  FETCH_A(toc, 0, TILE_K);
  FETCH_B(toc, 0, TILE_K);
  FETCH_B(toc, 1, TILE_K);
  WAIT_FETCHES(3);  // prologue: tile 0
  BARRIER();

  const int last = D::tiles_of(g) - 1;
  for (int t = 0; t < last - 1; ++t, tic ^= 1, toc ^= 1) {
    const int next = (t + 1) * TILE_K, after = (t + 2) * TILE_K;
    READ_B(b0, tic, 0);           // loop: first half of B
    READ_A(a, tic, 0);            // loop: first half of A
    FETCH_A(toc, 1, next);        // loop: second half of A for the next tile
    d.fetch_scales(toc, next);    // loop: and its scales
    WAIT_READS(OF_A);          // loop: b0 is read
    BARRIER();                    // loop: 1
    WAIT_READS(0);                // loop: a is read
    D::settle(a), D::settle(b0);
    multiply_all<D>(c00, a, b0);
    BARRIER();                    // loop: 2

    READ_B(b1, tic, 1);           // loop: second half of B
    if constexpr (V::early_a)
      FETCH_A(tic, 0, after);     // loop: first half of A, as printed
    else
      FETCH_B(tic, 0, after);     // loop: first half of B, anew
    BARRIER();                    // loop: 3
    WAIT_READS(0);                // loop: b1 is read
    D::settle(b1);
    multiply_all<D>(c01, a, b1);
    BARRIER();                    // loop: 4

    READ_A(a, tic, 1);            // loop: second half of A
    if constexpr (V::early_a)
      FETCH_B(tic, 0, after);     // loop: first half of B, as printed
    else
      FETCH_A(tic, 0, after);     // loop: first half of A, anew
    BARRIER();                    // loop: 5
    WAIT_READS(0);                // loop: a is read again
    D::settle(a);
    multiply_all<D>(c10, a, b0);
    BARRIER();                    // loop: 6

    FETCH_B(tic, 1, after);       // loop: second half of B
    WAIT_FETCHES(3);              // loop: all of the next tile
    BARRIER();                    // loop: 7
    multiply_all<D>(c11, a, b1);
    BARRIER();                    // loop: 8
  }

  // The last tile but one: what is still missing of the last one is fetched.
  READ_B(b0, tic, 0);
  READ_A(a, tic, 0);
  FETCH_A(toc, 1, last * TILE_K);
  d.fetch_scales(toc, last * TILE_K);
  WAIT_READS(OF_A);
  BARRIER();
  WAIT_READS(0);
  D::settle(a), D::settle(b0);
  multiply_all<D>(c00, a, b0);
  BARRIER();

  READ_B(b1, tic, 1);
  BARRIER();
  WAIT_READS(0);
  D::settle(b1);
  multiply_all<D>(c01, a, b1);
  BARRIER();

  READ_A(a, tic, 1);
  if constexpr (!V::early_read) WAIT_FETCHES(0);  // epilogue: all of the last tile
  BARRIER();
  WAIT_READS(0);
  D::settle(a);
  multiply_all<D>(c10, a, b0);
  BARRIER();

  READ_B(b0, toc, 0);  // epilogue: first half of B
  if constexpr (V::early_read) WAIT_FETCHES(0);  // epilogue: too late
  BARRIER();
  multiply_all<D>(c11, a, b1);
  BARRIER();

  // The last tile.
  READ_A(a, toc, 0);
  BARRIER();
  WAIT_READS(0);
  D::settle(a), D::settle(b0);
  d.end(a), d.end(b0);
  multiply_all<D>(c00, a, b0);
  BARRIER();

  READ_B(b1, toc, 1);
  BARRIER();
  WAIT_READS(0);
  D::settle(b1);
  d.end(b1);
  multiply_all<D>(c01, a, b1);
  BARRIER();

  READ_A(a, toc, 1);
  BARRIER();
  WAIT_READS(0);
  D::settle(a);
  d.end(a);
  multiply_all<D>(c10, a, b0);
  multiply_all<D>(c11, a, b1);
  if constexpr (V::balanced)
    if (wave_m == 0) BARRIER();  // as many barriers for both halves

  epilogue.finish(row + wave_m * (HALF / 2), column + wave_n * (HALF / 4), c00, c01, c10, c11, lane);
}
template <typename D, typename V>
__device__ __attribute__((always_inline)) void pingpong(const typename D::Problem &g) {
  pingpong<D, V>(g, Stored<D>{g});
}
