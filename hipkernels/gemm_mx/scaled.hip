// C = alpha (A * scale_A) (B * scale_B)^T + beta C on CDNA4: A [M,K] and B [N,K] in FP8, BF8, FP6, BF6 or FP4, packed and
// row-major, with one E8M0 scale for 32 elements of K, scale_A [M, K/32] and scale_B [N, K/32]; C in BF16, sums in f32.
//
// Four waves, two by two, compute 64x64 of C, each 32x32. The elements pass through the LDS, 128 of K at a time; each scale
// goes straight to the lane that the instruction takes it from, which is not always the lane of its elements.
// M and N are multiples of 64, K of 128.
#include "../gemm_fp8/gemm.h"

#define WAVES 4
#define BLOCK 64
#define TILE_K 128
typedef unsigned words2 __attribute__((ext_vector_type(2)));
typedef int i32x8 __attribute__((ext_vector_type(8)));

// Bits of an element, and its code in the instruction (CDNA4 ISA manual, "Matrix formats").
template <int BITS, int CODE>
struct Format {
  static constexpr int bits = BITS, code = CODE, row = TILE_K * BITS / 8;
  // Bytes from one row in the LDS to the next, so chosen that reads are free of bank conflicts.
  static constexpr int pitch = BITS == 6 ? row + 16 : row + 32;
};
typedef Format<8, 0> e4m3fn;
typedef Format<8, 1> e5m2;
typedef Format<6, 2> e2m3fn;
typedef Format<6, 3> e3m2fn;
typedef Format<4, 4> e2m1fn;

// 64 rows of 128 elements to the LDS, 16 bytes a thread.
template <typename F>
__device__ void store_rows(char *tile, const fp8 *from, size_t step) {
  constexpr unsigned chunks = F::row / 16;
  for (unsigned n = threadIdx.x; n < BLOCK * chunks; n += 64 * WAVES) {
    const unsigned row = n / chunks, column = n % chunks * 16;
    *reinterpret_cast<words4 *>(tile + row * F::pitch + column) =
        *reinterpret_cast<const words4 *>(from + row * step + column);
  }
}

// What a lane gives the instruction: row lane % 16; k 32 (lane / 16) onwards, but with 8 bits 16 (lane / 16) and
// 64 + 16 (lane / 16) onwards.
template <typename F>
__device__ i32x8 read(const char *tile, unsigned row, unsigned lane) {
  const char *line = tile + (row + lane % 16) * F::pitch;
  const unsigned group = lane / 16;
  if constexpr (F::bits == 8) {
    const words4 low = *reinterpret_cast<const words4 *>(line + 16 * group);
    const words4 high = *reinterpret_cast<const words4 *>(line + 64 + 16 * group);
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

template <typename FA, typename FB>
__device__ void scaled(const fp8 *SA, const fp8 *SB, const Gemm &g) {
  __shared__ __attribute__((aligned(16))) char a_tile[BLOCK * FA::pitch], b_tile[BLOCK * FB::pitch];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned wave_m = wave / 2 * 32, wave_n = wave % 2 * 32;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK, blocks = g.K / 32;
  const size_t a_step = (size_t)g.lda * FA::bits / 8, b_step = (size_t)g.ldb * FB::bits / 8;
  f32x4 sum[2][2] = {};
  for (int k0 = 0; k0 < g.K; k0 += TILE_K) {
    store_rows<FA>(a_tile, g.A + row * a_step + k0 * FA::bits / 8, a_step);
    store_rows<FB>(b_tile, g.B + column * b_step + k0 * FB::bits / 8, b_step);
    __syncthreads();  // complete
    i32x8 a[2], b[2];
    int scale_a[2], scale_b[2];
    for (int i = 0; i < 2; ++i) {
      a[i] = read<FA>(a_tile, wave_m + 16 * i, lane);
      b[i] = read<FB>(b_tile, wave_n + 16 * i, lane);
      // Lane l brings the scale of row l % 16 and of block l / 16, whatever elements it holds.
      const int block = k0 / 32 + lane / 16;
      scale_a[i] = SA[(size_t)(row + wave_m + 16 * i + lane % 16) * blocks + block];
      scale_b[i] = SB[(size_t)(column + wave_n + 16 * i + lane % 16) * blocks + block];
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        sum[i][j] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[j], sum[i][j], FA::code, FB::code, 0,
                                                                     scale_a[i], 0, scale_b[j]);
    __syncthreads();  // read
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) finish_tile(g, row + wave_m + 16 * i, column + wave_n + 16 * j, sum[i][j], lane);
}

#define KERNEL(FA, FB)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(64 * WAVES)                                                             \
      scaled_##FA##_##FB(const fp8 *A, const fp8 *B, const fp8 *SA, const fp8 *SB, bf16 *C, int M, int N, int K, int lda, \
                         int ldb, int ldc, float alpha, float beta) {                                                  \
    scaled<FA, FB>(SA, SB, {A, B, C, M, N, K, lda, ldb, ldc, alpha, beta});                                            \
  }
KERNEL(e4m3fn, e4m3fn)
KERNEL(e5m2, e5m2)
KERNEL(e2m3fn, e2m3fn)
KERNEL(e3m2fn, e3m2fn)
KERNEL(e2m1fn, e2m1fn)
KERNEL(e4m3fn, e2m1fn)
KERNEL(e2m1fn, e2m3fn)
KERNEL(e2m3fn, e5m2)
