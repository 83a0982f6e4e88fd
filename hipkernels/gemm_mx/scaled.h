// C = alpha (A * scale_A) (B * scale_B)^T + beta C on CDNA4: A [M,K] and B [N,K] in FP8, BF8, FP6, BF6 or FP4, packed and
// row-major, with one E8M0 scale for 32 elements of K, scale_A [M, K/32] and scale_B [N, K/32]; C in BF16, sums in f32.
//
// Four waves, two by two, compute 64x64 of C, each 32x32. The elements pass through the LDS, 128 of K at a time; each scale
// goes straight to the lane that the instruction takes it from, which is not always the lane of its elements.
// M and N are multiples of 64, K of 128.
#pragma once
#include "formats.h"

#define WAVES 4
#define BLOCK 64

// Bytes from one row in the LDS to the next, so chosen that reads of 16 rows are free of bank conflicts.
template <typename F>
constexpr int pitch = F::bits == 6 ? F::row + 16 : F::row + 32;

// 64 rows of 128 elements to the LDS, 16 bytes a thread.
template <typename F>
__device__ void store_rows(char *tile, const fp8 *from, size_t step) {
  constexpr unsigned chunks = F::row / 16;
  for (unsigned n = threadIdx.x; n < BLOCK * chunks; n += 64 * WAVES) {
    const unsigned row = n / chunks, column = n % chunks * 16;
    *reinterpret_cast<words4 *>(tile + row * pitch<F> + column) =
        *reinterpret_cast<const words4 *>(from + row * step + column);
  }
}

// What a lane gives the instruction: 32 elements, k 32 group onwards; but with 8 bits 16 of them from k 16 group, the other 16
// as far into the second half of the instruction's K.
template <typename S, typename F>
__device__ i32x8 read(const char *tile, unsigned row, unsigned step, unsigned lane) {
  const char *line = tile + (row + lane % S::rows) * pitch<F> + step * S::groups * 4 * F::bits;
  const unsigned group = lane / S::rows;
  if constexpr (F::bits == 8) {
    const words4 low = *reinterpret_cast<const words4 *>(line + 16 * group);
    const words4 high = *reinterpret_cast<const words4 *>(line + 16 * S::groups + 16 * group);
    return __builtin_bit_cast(i32x8, __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7));
  } else if constexpr (F::bits == 6) {
    const words2 *part = reinterpret_cast<const words2 *>(line + 24 * group);
    const words2 a = part[0], b = part[1], c = part[2];
    return i32x8{(int)a.x, (int)a.y, (int)b.x, (int)b.y, (int)c.x, (int)c.y, 0, 0};
  } else {
    const words4 all = *reinterpret_cast<const words4 *>(line + 16 * group);
    return i32x8{(int)all.x, (int)all.y, (int)all.z, (int)all.w, 0, 0, 0, 0};
  }
}

template <typename S, typename FA, typename FB>
__device__ void scaled(const fp8 *SA, const fp8 *SB, const Gemm &g) {
  constexpr int TILES = 32 / S::rows;
  __shared__ __attribute__((aligned(16))) char a_tile[BLOCK * pitch<FA>], b_tile[BLOCK * pitch<FB>];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 32, wave_n = wave % 2 * 32;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK, blocks = g.K / 32;
  const size_t a_step = (size_t)g.lda * FA::bits / 8, b_step = (size_t)g.ldb * FB::bits / 8;
  typename S::Sum sum[TILES][TILES] = {};
  for (int k0 = 0; k0 < g.K; k0 += TILE_K) {
    store_rows<FA>(a_tile, g.A + row * a_step + k0 * FA::bits / 8, a_step);
    store_rows<FB>(b_tile, g.B + column * b_step + k0 * FB::bits / 8, b_step);
    __syncthreads();  // complete
    for (int h = 0; h < steps<S>; ++h) {
      i32x8 a[TILES], b[TILES];
      int scale_a[TILES], scale_b[TILES];
      for (int i = 0; i < TILES; ++i) {
        a[i] = read<S, FA>(a_tile, wave_m + S::rows * i, h, lane);
        b[i] = read<S, FB>(b_tile, wave_n + S::rows * i, h, lane);
        // The lane brings the scale of its row and of block lane / rows, whatever elements it holds.
        const int block = k0 / 32 + h * S::groups + lane / S::rows;
        scale_a[i] = SA[(size_t)(row + wave_m + S::rows * i + lane % S::rows) * blocks + block];
        scale_b[i] = SB[(size_t)(column + wave_n + S::rows * i + lane % S::rows) * blocks + block];
      }
      for (int i = 0; i < TILES; ++i)
        for (int j = 0; j < TILES; ++j)
          sum[i][j] = S::template multiply<FA::code, FB::code, 0, 0>(a[i], b[j], sum[i][j], scale_a[i], scale_b[j]);
    }
    __syncthreads();  // read
  }
  for (int i = 0; i < TILES; ++i)
    for (int j = 0; j < TILES; ++j)
      S::finish(g, row + wave_m + S::rows * i, column + wave_n + S::rows * j, sum[i][j], lane);
}

#define KERNEL(NAME, S, FA, FB)                                                                                        \
  extern "C" __global__ void __launch_bounds__(64 * WAVES)                                                             \
      NAME##_##FA##_##FB(const fp8 *A, const fp8 *B, const fp8 *SA, const fp8 *SB, bf16 *C, int M, int N, int K,       \
                         int lda, int ldb, int ldc, float alpha, float beta) {                                         \
    scaled<S, FA, FB>(SA, SB, {A, B, C, M, N, K, lda, ldb, ldc, alpha, beta});                                         \
  }
// A in one format with B in each of the five.
#define KERNELS(NAME, S, FA) \
  KERNEL(NAME, S, FA, e4m3fn) KERNEL(NAME, S, FA, e5m2) KERNEL(NAME, S, FA, e2m3fn) KERNEL(NAME, S, FA, e3m2fn) \
  KERNEL(NAME, S, FA, e2m1fn)
#define ALL_KERNELS(NAME, S) \
  KERNELS(NAME, S, e4m3fn) KERNELS(NAME, S, e5m2) KERNELS(NAME, S, e2m3fn) KERNELS(NAME, S, e3m2fn) KERNELS(NAME, S, e2m1fn)
