// C = alpha A B^T in FP8 where several workgroups sum parts of K of one tile of C: how a part is computed, how it is handed
// over in a workspace, and how parts are added.
//
// M and N are any numbers, K is a multiple of 128, rows of A and B begin at multiples of 16 bytes. Eight waves, two by four,
// compute a tile of 128x128 as in ../multi_wave.hip, each 64x32.
#pragma once
#include "../tile.h"

#define SIDE 128
#define WAVES 8
#define WAVES_N 4
#define TILES_M 4
#define TILES_N 2

typedef f32x4 Sums[TILES_M][TILES_N];

struct Problem {
  const fp8 *A, *B;
  int M, N, K, lda, ldb, ldc;
  float alpha;
  __device__ int across() const { return (N + SIDE - 1) / SIDE; }
  __device__ int tiles() const { return (M + SIDE - 1) / SIDE * across(); }
  __device__ int depth() const { return K / TILE_K; }
};

// All of the LDS of gfx942; between two products its first word is free.
struct Lds {
  char a[2][SIDE * TILE_K], b[2][SIDE * TILE_K];
};

struct Wave {
  unsigned lane = threadIdx.x % 64, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64);
  unsigned m = wave / WAVES_N * 16 * TILES_M, n = wave % WAVES_N * 16 * TILES_N;
  // The lane, such that nothing computed from it is kept in registers during the products.
  MOVES unsigned again() const {
    unsigned lane_ = lane;
    asm volatile("" : "+v"(lane_));
    return lane_;
  }
};

// The sum over steps `first` to `last` - 1 of K, of 128 each.
MOVES void product(Sums &sum, const Problem &p, int tile, int first, int last, Lds &lds, const Wave &w) {
  const int row = tile / p.across() * SIDE, column = tile % p.across() * SIDE;
  const auto a_rows = rows_of(p.A, row, min(SIDE, p.M - row), p.lda, p.K);
  const auto b_rows = rows_of(p.B, column, min(SIDE, p.N - column), p.ldb, p.K);
#define FETCH(slot, t)                                                                        \
  {                                                                                           \
    fetch<Row, SIDE, WAVES>(lds.a[slot], a_rows, 0, p.lda, (t) * TILE_K, w.wave, w.lane);      \
    fetch<Row, SIDE, WAVES>(lds.b[slot], b_rows, 0, p.ldb, (t) * TILE_K, w.wave, w.lane);      \
  }
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) sum[i][j] = {};
  FETCH(0, first)
  WAIT_DIRECT(0);  // first tile: fetched
  BARRIER();       // first tile: by all waves
  for (int t = first, slot = 0; t < last; ++t, slot ^= 1) {
    if (t + 1 < last) FETCH(slot ^ 1, t + 1)
    Fragment a[TILES_M], b[TILES_N];
#pragma unroll
    for (int i = 0; i < TILES_M; ++i) start_read<Row>(a[i], lds.a[slot], w.m + 16 * i, w.lane);
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) start_read<Row>(b[j], lds.b[slot], w.n + 16 * j, w.lane);
    WAIT_LDS();  // fragments
#pragma unroll
    for (int i = 0; i < TILES_M; ++i) arrived(a[i]);
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) arrived(b[j]);
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
      for (int j = 0; j < TILES_N; ++j) sum[i][j] = multiply(sum[i][j], a[i], b[j]);
    WAIT_DIRECT(0);  // next tile: fetched
    BARRIER();       // next tile: by all waves, and no wave reads this one any more
    __builtin_amdgcn_sched_barrier(0);
  }
#undef FETCH
}

// A part in the workspace: what the lanes of a wave hold of a tile of 16x16 lies together, four sums a lane.
MOVES f32x4 *place(float *part, const Wave &w) {
  return (f32x4 *)part + w.wave * TILES_M * TILES_N * 64 + w.again();
}
MOVES void store_part(float *part, const Sums &sum, const Wave &w) {
  f32x4 *to = place(part, w);
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) to[(i * TILES_N + j) * 64] = sum[i][j];
}
// total = part, or total + part.
MOVES void add_part(Sums &total, float *part, bool begun, const Wave &w) {
  const f32x4 *from = place(part, w);
#pragma unroll
  for (int i = 0; i < TILES_M; ++i)
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) {
      const f32x4 more = from[(i * TILES_N + j) * 64];
      total[i][j] = begun ? total[i][j] + more : more;
    }
}

// A tile of C of elements of BYTES: what lies beyond C has an offset beyond the resource, so that nothing branches.
#define BEYOND 0x80000000u
template <int BYTES>
struct OfC {
  __amdgpu_buffer_rsrc_t c;
  int rows, columns, ldc;
  MOVES OfC(const Problem &p, void *C, int tile)
      : rows(min(SIDE, p.M - tile / p.across() * SIDE)), columns(min(SIDE, p.N - tile % p.across() * SIDE)), ldc(p.ldc) {
    char *corner = (char *)C + ((size_t)(tile / p.across()) * SIDE * ldc + tile % p.across() * SIDE) * BYTES;
    c = __builtin_amdgcn_make_buffer_rsrc(corner, 0, ((rows - 1) * ldc + columns) * BYTES, 0x27000);
  }
  // Calls `what` with the offset and the place in Sums of each element that the wave has.
  template <class What>
  MOVES void each(const Wave &w, What what) const {
    const unsigned lane = w.again();
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
      for (int j = 0; j < TILES_N; ++j)
#pragma unroll
        for (int t = 0; t < 4; ++t) {
          const int y = w.m + 16 * i + 4 * (lane / 16) + t, x = w.n + 16 * j + lane % 16;
          what(y < rows && x < columns ? (y * ldc + x) * BYTES : BEYOND, i, j, t);
        }
  }
};
MOVES void store_c(const Problem &p, bf16 *C, int tile, const Sums &sum, const Wave &w) {
  const OfC<2> to(p, C, tile);
  to.each(w, [&](unsigned at, int i, int j, int t) {
    __builtin_amdgcn_raw_buffer_store_b16(to_bf16(p.alpha * sum[i][j][t]), to.c, at, 0, 0);
  });
}
MOVES void store_c(const Problem &p, float *C, int tile, const Sums &sum, const Wave &w) {
  const OfC<4> to(p, C, tile);
  to.each(w, [&](unsigned at, int i, int j, int t) {
    __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, p.alpha * sum[i][j][t]), to.c, at, 0, 0);
  });
}
// C += alpha sum: all of C is on its way before any of it is waited for.
MOVES void update_c(const Problem &p, float *C, int tile, const Sums &sum, const Wave &w) {
  const OfC<4> to(p, C, tile);
  Sums old;
  to.each(w, [&](unsigned at, int i, int j, int t) {
    old[i][j][t] = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(to.c, at, 0, 0));
  });
  to.each(w, [&](unsigned at, int i, int j, int t) {
    const float value = __builtin_fmaf(p.alpha, sum[i][j][t], old[i][j][t]);
    __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, value), to.c, at, 0, 0);
  });
}
// In any order: the last bits of C depend on it.
MOVES void add_to_c(const Problem &p, float *C, int tile, const Sums &sum, const Wave &w) {
  const OfC<4> to(p, C, tile);
  to.each(w, [&](unsigned at, int i, int j, int t) {
    __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(p.alpha * sum[i][j][t], to.c, at, 0, 0);
  });
}

// What other workgroups wait for, in the memory of the device. A wave's stores are complete in its own L2 at the barrier;
// the release writes this L2 back, for those that are on another die, and the acquire drops what this unit's caches hold.
MOVES void publish(unsigned *flag, unsigned value) {
  __syncthreads();  // publish: all waves have stored
  if (threadIdx.x == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");  // publish: released
    __hip_atomic_store(flag, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
MOVES void await(unsigned *flag, unsigned value) {
  if (threadIdx.x == 0) {
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != value) __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");  // await: acquired
  }
  __syncthreads();  // await: for all waves
}
// Takes a number, the same for all waves, after all of them have stored.
MOVES unsigned take_ticket(unsigned *counter, Lds &lds) {
  unsigned *ticket = (unsigned *)lds.a[0];
  __syncthreads();  // ticket: all waves have stored
  if (threadIdx.x == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");  // ticket: released
    *ticket = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");  // ticket: acquired
  }
  __syncthreads();  // ticket: for all waves
  return *ticket;
}
