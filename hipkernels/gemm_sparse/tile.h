// GEMM with a 4:2 sparse A: C[m][n] = sum over k of A[m][k] B[n][k], factors of BYTES bytes, sums in f32 or i32.
//
// Of every four elements of a row of A two are kept. Kept is [M, K / 2], Index [M, K / 2] of two bits: the position of a
// kept element among its four, the first in the lowest bits. B is [N, K], by rows. A workgroup computes 128x128 of C in
// steps of 128 bytes of K; M is any number, N a multiple of 128, K of 128 bytes.
//
// Tiles in the LDS: a row of kept elements has 64 bytes, of B 128. They are swizzled in units of 8 and 16 bytes, so that a
// fragment is read without bank conflicts with 32 banks (gfx942, RDNA4) and with 64 (gfx950). The index goes straight to
// registers: the bytes that a lane needs of its row lie together.
#pragma once
#include <hip/hip_runtime.h>

#define SIDE 128
#define KEPT_ROW 64  // bytes
#define B_ROW 128
#ifdef __GFX12__
#define RAW 0x31004000  // last word of a resource without a stride: out of range means beyond num_records
#else
#define RAW 0x27000
#endif
#define INLINE __device__ __attribute__((always_inline)) inline

typedef __attribute__((ext_vector_type(2))) unsigned words2;
typedef __attribute__((ext_vector_type(4))) unsigned words4;

struct Problem {
  const char *Kept, *Index, *B;
  int M, N, K;
};

// Units of 8 bytes of a row of kept elements; of 16 bytes of a row of B.
INLINE unsigned kept_place(unsigned row, unsigned unit) {
  return row * KEPT_ROW + (unit ^ (row / 2 % 8) ^ (row / 16 % 2)) * 8;
}
INLINE unsigned b_place(unsigned row, unsigned unit) { return row * B_ROW + (unit ^ (row / 2 % 8) ^ (row % 2 * 4)) * 16; }

struct Tile {
  char kept[SIDE * KEPT_ROW], b[SIDE * B_ROW];
};

// What THREADS threads fetch of a tile, 16 bytes a load: rows beyond the matrix are beyond the resource, and 0.
template <int BYTES, int THREADS>
struct Fetch {
  static constexpr int A_LOADS = SIDE * KEPT_ROW / 16 / THREADS, B_LOADS = SIDE * B_ROW / 16 / THREADS;
  __amdgpu_buffer_rsrc_t kept, b;
  unsigned thread, kept_row, b_row;
  words4 a_held[A_LOADS], b_held[B_LOADS];

  INLINE Fetch(const Problem &p, unsigned row, unsigned column, unsigned thread)
      : kept(__builtin_amdgcn_make_buffer_rsrc((void *)(p.Kept + (size_t)row * (p.K / 2 * BYTES)), 0,
                                               (p.M - row < SIDE ? p.M - row : SIDE) * (p.K / 2 * BYTES), RAW)),
        b(__builtin_amdgcn_make_buffer_rsrc((void *)(p.B + (size_t)column * p.K * BYTES), 0, SIDE * p.K * BYTES, RAW)),
        thread(thread), kept_row(p.K / 2 * BYTES), b_row(p.K * BYTES) {}
  // Tile of K from byte `k` of a row of B on, from memory to registers.
  INLINE void start(int k) {
#pragma unroll
    for (int n = 0; n < A_LOADS; ++n) {
      const unsigned at = n * THREADS + thread;
      a_held[n] = __builtin_amdgcn_raw_buffer_load_b128(kept, at / 4 * kept_row + at % 4 * 16, k / 2, 0);
    }
#pragma unroll
    for (int n = 0; n < B_LOADS; ++n) {
      const unsigned at = n * THREADS + thread;
      b_held[n] = __builtin_amdgcn_raw_buffer_load_b128(b, at / 8 * b_row + at % 8 * 16, k, 0);
    }
  }
  // From registers to the LDS.
  INLINE void store(Tile &tile) const {
#pragma unroll
    for (int n = 0; n < A_LOADS; ++n) {
      const unsigned at = n * THREADS + thread, row = at / 4;
#pragma unroll
      for (unsigned half = 0; half < 2; ++half)
        *(words2 *)(tile.kept + kept_place(row, at % 4 * 2 + half)) = words2{a_held[n][2 * half], a_held[n][2 * half + 1]};
    }
#pragma unroll
    for (int n = 0; n < B_LOADS; ++n) {
      const unsigned at = n * THREADS + thread;
      *(words4 *)(tile.b + b_place(at / 8, at % 8)) = b_held[n];
    }
  }
};

// Two tiles in turn: while one is multiplied, the next is on its way to the registers and then to the other.
template <int BYTES, int THREADS, typename Wave>
INLINE void product(const Problem &p, Tile (&tile)[2], Wave &wave) {
  Fetch<BYTES, THREADS> fetch(p, blockIdx.y * SIDE, blockIdx.x * SIDE, threadIdx.x);
  fetch.start(0);
  wave.start_index(0, 0);
  fetch.store(tile[0]);
  __syncthreads();  // first tile
  const int tiles = p.K * BYTES / B_ROW;
#define STEP(slot, t)                                 \
  {                                                   \
    if ((t) + 1 < tiles) {                            \
      fetch.start(((t) + 1) * B_ROW);                 \
      wave.start_index((slot) ^ 1, (t) + 1);          \
    }                                                 \
    wave.multiply(tile[slot], slot);                  \
    if ((t) + 1 < tiles) {                            \
      fetch.store(tile[(slot) ^ 1]);                  \
      __syncthreads();  /* next tile */               \
    }                                                 \
  }
  int t = 0;
  for (; t + 1 < tiles; t += 2) {
    STEP(0, t)
    STEP(1, t + 1)
  }
  if (t < tiles) STEP(0, t)
#undef STEP
}

// The kernel of one kind of elements.
#define SPARSE(name, Kind)                                                                                       \
  extern "C" __global__ void __launch_bounds__(256)                                                              \
      name(const char *Kept, const char *Index, const char *B, Kind::Sum *C, int M, int N, int K) {              \
    __shared__ __attribute__((aligned(16))) Tile tile[2];                                                        \
    const Problem p{Kept, Index, B, M, N, K};                                                                    \
    Wave<Kind> wave(p, blockIdx.y * SIDE);                                                                       \
    product<Kind::BYTES, 256>(p, tile, wave);                                                                    \
    wave.store(p, C, blockIdx.y * SIDE, blockIdx.x * SIDE);                                                      \
  }
