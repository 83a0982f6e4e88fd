// The block-scaled GEMM of tile.h on RDNA4, with B by rows: eight waves of 32, two by four, compute 128x128 of C, each 64x32.
//
// Tiles of 64 of K, half a block, pass from memory through registers to the LDS, in two slots: the next one is loaded before
// this one is multiplied, and stored after it. Rows that do not exist are fetched from a row of A, and are not stored.
// `grouped_wave32` is the product of a mixture of experts, whose list grouped.hip describes.
#include "../gemm_fp8/gemm.h"

#define SIDE 128
#define WAVES_N 4
#define A_TILES 4
#define COLUMNS 2
#define THREADS 256
#define DEPTH 64                               // elements of K in a tile, and bytes of a row
#define CHUNKS (SIDE * DEPTH / 16 / THREADS)  // pieces of 16 bytes that a thread moves of a tile

typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef int words2 __attribute__((ext_vector_type(2)));

// Rows of the result that follow each other: the row of A and the row of C of row n of a tile.
struct Following {
  int first, M;
  __device__ int of_a(int n) const { return min(first + n, M - 1); }
  __device__ unsigned of_c(int n) const { return first + n; }
};
// The rows that a list names, `fold` of them for each row of A; an entry that pads the list names a row beyond the last one.
struct Listed {
  const int *list;
  int rows, fold;
  __device__ int of_a(int n) const { return (unsigned)list[n] < (unsigned)rows ? list[n] / fold : 0; }
  __device__ unsigned of_c(int n) const { return list[n]; }
};

struct Slot {
  unsigned char a[SIDE * DEPTH], b[SIDE * DEPTH];
};

// Where byte `column` of a row lies: bits 1 and 2 of the row in the 16-byte column, so that eight rows meet in no bank.
__device__ inline unsigned at(unsigned row, unsigned column) { return row * DEPTH + (column ^ (row >> 1 & 3) << 4); }

// What a thread moves of the next tile: its loads are waited for where they are stored.
struct Moved {
  words4 a[CHUNKS], b[CHUNKS];
  const fp8 *from_a[CHUNKS], *from_b[CHUNKS];

  template <typename Rows>
  __device__ __attribute__((always_inline)) Moved(const Gemm &g, const Rows &rows, int column) {
#pragma unroll
    for (int n = 0; n < CHUNKS; ++n) {
      const int place = n * THREADS + threadIdx.x, line = place / 4, byte = place % 4 * 16;
      from_a[n] = g.A + (size_t)rows.of_a(line) * g.lda + byte;
      from_b[n] = g.B + (size_t)(column + line) * g.ldb + byte;
    }
  }
  __device__ __attribute__((always_inline)) void load(int k) {
#pragma unroll
    for (int n = 0; n < CHUNKS; ++n) {
      a[n] = *reinterpret_cast<const words4 *>(from_a[n] + k);
      b[n] = *reinterpret_cast<const words4 *>(from_b[n] + k);
    }
  }
  __device__ __attribute__((always_inline)) void store(Slot &slot) const {
#pragma unroll
    for (int n = 0; n < CHUNKS; ++n) {
      const unsigned place = n * THREADS + threadIdx.x, to = at(place / 4, place % 4 * 16);
      *reinterpret_cast<words4 *>(slot.a + to) = a[n];
      *reinterpret_cast<words4 *>(slot.b + to) = b[n];
    }
  }
};

// Half a block of K. A lane has row lane % 16 of a fragment and 16 bytes of every 32 of K; two instructions take eight bytes
// each, so that K is permuted, in A and B alike. The first product of a block begins with 0.
template <bool FIRST>
__device__ __attribute__((always_inline)) inline void multiply(f32x8 (&part)[A_TILES][COLUMNS], const Slot &slot,
                                                               unsigned wave_m, unsigned wave_n, unsigned lane) {
#pragma unroll
  for (int k = 0; k < DEPTH; k += 32) {
    words4 a[A_TILES], b[COLUMNS];
    const unsigned column = k + lane / 16 * 16;
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
      a[i] = *reinterpret_cast<const words4 *>(slot.a + at(wave_m + 16 * i + lane % 16, column));
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
      b[j] = *reinterpret_cast<const words4 *>(slot.b + at(wave_n + 16 * j + lane % 16, column));
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < A_TILES; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
          part[i][j] = __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(
              words2{(int)a[i][2 * half], (int)a[i][2 * half + 1]}, words2{(int)b[j][2 * half], (int)b[j][2 * half + 1]},
              FIRST && k + half == 0 ? f32x8{} : part[i][j]);
  }
}

// A block joins the sum with its scales; a lane has rows 8 (lane / 16) onwards of a tile.
__device__ __attribute__((always_inline)) inline void add(f32x8 (&sum)[A_TILES][COLUMNS], const f32x8 (&part)[A_TILES][COLUMNS],
                                                          const float *scales, float other, unsigned lane) {
#pragma unroll
  for (int i = 0; i < A_TILES; ++i) {
    const f32x8 scale = *reinterpret_cast<const f32x8 *>(scales + 16 * i + lane / 16 * 8);
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j)
#pragma unroll
      for (int t = 0; t < 8; ++t) sum[i][j][t] = __builtin_fmaf(part[i][j][t], scale[t] * other, sum[i][j][t]);
  }
}

// The tile of C of a workgroup: its `rows` by the 128 columns from `column`. SB are the scales of these columns; rows of C
// from `limit` on do not exist.
template <typename Rows>
__device__ __attribute__((always_inline)) inline void product(const Gemm &g, const float *SA, const float *SB, const Rows &rows,
                                                              unsigned limit, int column) {
  __shared__ __attribute__((aligned(16))) Slot slots[2];
  __shared__ __attribute__((aligned(32))) float scales[2][SIDE];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 32), lane = threadIdx.x % 32;
  const unsigned wave_m = wave / WAVES_N * 64, wave_n = wave % WAVES_N * 32;
  const int tiles = g.K / SIDE;
  const float *own = SA + rows.of_a(threadIdx.x % SIDE);
  f32x8 sum[A_TILES][COLUMNS] = {}, part[A_TILES][COLUMNS];
  Moved next(g, rows, column);
  next.load(0);
  if (threadIdx.x < SIDE) scales[0][threadIdx.x] = *own;
  next.store(slots[0]);
  __syncthreads();  // first tile: by all waves
  for (int t = 0; t < tiles; ++t) {
    const bool more = t + 1 < tiles;
    next.load(t * SIDE + DEPTH);
    multiply<true>(part, slots[0], wave_m, wave_n, lane);
    next.store(slots[1]);
    __syncthreads();  // second half: by all waves, and no wave reads the first one any more
    float scale = 0;
    if (more) next.load((t + 1) * SIDE), scale = own[(size_t)(t + 1) * g.M];
    multiply<false>(part, slots[1], wave_m, wave_n, lane);
    add(sum, part, scales[t % 2] + wave_m, SB[t], lane);
    if (more) {
      next.store(slots[0]);
      if (threadIdx.x < SIDE) scales[(t + 1) % 2][threadIdx.x] = scale;
    }
    __syncthreads();  // next block: by all waves, and no wave reads this one any more
  }
#pragma unroll
  for (int i = 0; i < A_TILES; ++i)
#pragma unroll
    for (int t = 0; t < 8; ++t) {
      const unsigned mine = rows.of_c(wave_m + 16 * i + lane / 16 * 8 + t);
      if (mine < limit)  // rows that do not exist
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
          g.C[(size_t)mine * g.ldc + column + wave_n + 16 * j + lane % 16] = to_bf16(sum[i][j][t]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    blockscale_wave32(const fp8 *A, const fp8 *B, const float *SA, const float *SB, bf16 *C, int M, int N, int K, int lda,
                      int ldc) {
  const Gemm g = {A, B, C, M, N, K, lda, K, ldc, 1.0f, 0.0f};
  product(g, SA, SB + blockIdx.x * (K / SIDE), Following{(int)blockIdx.y * SIDE, M}, M, blockIdx.x * SIDE);
}

// Each workgroup has 128 entries of the list, all of one expert; a part without an expert has nothing to do.
extern "C" __global__ void __launch_bounds__(THREADS)
    grouped_wave32(const fp8 *A, const fp8 *B, const float *SA, const float *SB, bf16 *C, const int *list,
                   const int *expert_of, int M, int N, int K, int rows, int fold) {
  const int expert = expert_of[blockIdx.y];
  if (expert < 0) return;
  const Gemm g = {A, B + (size_t)expert * N * K, C, M, N, K, K, K, N, 1.0f, 0.0f};
  const float *scales = SB + ((size_t)expert * (N / SIDE) + blockIdx.x) * (K / SIDE);
  product(g, SA, scales, Listed{list + blockIdx.y * SIDE, rows, fold}, rows, blockIdx.x * SIDE);
}
