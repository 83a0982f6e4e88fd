// C = alpha A B^T + beta C with A [M,K] and B [N,K] in f16 or bf16, row-major, sums in f32, by each of the four shapes of
// matrix instructions: 16x16x16 and 32x32x8, and CDNA4's 16x16x32 and 32x32x16.
//
// C is f32 where A and B are f16, and bf16 where they are. Four waves, two by two, compute 64x64 of C, each 32x32; tiles
// of 64 elements of K, 128 bytes, go straight to the LDS. M, N and K are multiples of 64.
#include "../gemm_fp8/tile.h"

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

// One shape for one type: the part of K that a lane holds, its sums, and the instruction.
#define SHAPE(NAME, PART, SUM, SIZE, BUILTIN)                                             \
  struct NAME {                                                                           \
    typedef PART part;                                                                    \
    typedef SUM sums;                                                                     \
    static constexpr int size = SIZE;                                                     \
    static __device__ sums multiply(part a, part b, sums sum) {                           \
      return __builtin_amdgcn_mfma_##BUILTIN(a, b, sum, 0, 0, 0);                         \
    }                                                                                     \
  };
SHAPE(F16_16, f16x4, f32x4, 16, f32_16x16x16f16)
SHAPE(F16_32, f16x4, f32x16, 32, f32_32x32x8f16)
SHAPE(BF16_16, i16x4, f32x4, 16, f32_16x16x16bf16_1k)
SHAPE(BF16_32, i16x4, f32x16, 32, f32_32x32x8bf16_1k)
#if defined(__gfx950__)
SHAPE(F16_16_LONG, f16x8, f32x4, 16, f32_16x16x32_f16)
SHAPE(F16_32_LONG, f16x8, f32x16, 32, f32_32x32x16_f16)
SHAPE(BF16_16_LONG, bf16x8, f32x4, 16, f32_16x16x32_bf16)
SHAPE(BF16_32_LONG, bf16x8, f32x16, 32, f32_32x32x16_bf16)
#endif

#define WAVES 4
#define BLOCK 64
#define ELEMENT 2  // bytes

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(bf16 code) { return from_bf16(code); }
__device__ inline void from_float(float &place, float value) { place = value; }
__device__ inline void from_float(bf16 &place, float value) { place = to_bf16(value); }

template <typename Shape, typename Out>
__device__ void half_gemm(const void *A, const void *B, Out *C, int K, int lda, int ldb, int ldc, float alpha, float beta) {
  typedef typename Shape::part part;
  constexpr int size = Shape::size, groups = 64 / size, tiles = 32 / size, steps = TILE_K / (groups * sizeof(part));
  __shared__ __attribute__((aligned(16))) char a_tile[BLOCK * TILE_K], b_tile[BLOCK * TILE_K];
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
  const unsigned line = lane % size, group = lane / size, wave_m = wave / 2 * 32, wave_n = wave % 2 * 32;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK, a_step = lda * ELEMENT, b_step = ldb * ELEMENT;
  const auto a_rows = rows_of((const fp8 *)A, row, BLOCK, a_step, K * ELEMENT);
  const auto b_rows = rows_of((const fp8 *)B, column, BLOCK, b_step, K * ELEMENT);

  typename Shape::sums sum[tiles][tiles] = {};
  for (int k0 = 0; k0 < K * ELEMENT; k0 += TILE_K) {
    fetch<Row, BLOCK, WAVES>(a_tile, a_rows, 0, a_step, k0, wave, lane);
    fetch<Row, BLOCK, WAVES>(b_tile, b_rows, 0, b_step, k0, wave, lane);
    WAIT_DIRECT(0);
    BARRIER();  // fetched by all
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const unsigned k = (groups * s + group) * sizeof(part);
      part a[tiles], b[tiles];
      for (int i = 0; i < tiles; ++i) {
        a[i] = *reinterpret_cast<const part *>(a_tile + READ_AT(Row, wave_m + size * i + line, k));
        b[i] = *reinterpret_cast<const part *>(b_tile + READ_AT(Row, wave_n + size * i + line, k));
      }
      for (int i = 0; i < tiles; ++i)
        for (int j = 0; j < tiles; ++j) sum[i][j] = Shape::multiply(a[i], b[j], sum[i][j]);
    }
    SYNC();  // read by all
  }
  for (int i = 0; i < tiles; ++i)
    for (int j = 0; j < tiles; ++j)
      for (int r = 0; r < size * size / 64; ++r) {
        const int y = row + wave_m + size * i + r / 4 * 4 * groups + 4 * group + r % 4;
        Out &place = C[(size_t)y * ldc + column + wave_n + size * j + line];
        const float product = alpha * sum[i][j][r];
        from_float(place, beta == 0.0f ? product : __builtin_fmaf(alpha, sum[i][j][r], beta * to_float(place)));
      }
}

#define KERNEL(NAME, SHAPE_, OUT)                                                                                      \
  extern "C" __global__ void __launch_bounds__(64 * WAVES)                                                             \
      NAME(const void *A, const void *B, OUT *C, int M, int N, int K, int lda, int ldb, int ldc, float alpha,          \
           float beta) {                                                                                               \
    half_gemm<SHAPE_, OUT>(A, B, C, K, lda, ldb, ldc, alpha, beta);                                                    \
  }
KERNEL(f16_16x16x16, F16_16, float)
KERNEL(f16_32x32x8, F16_32, float)
KERNEL(bf16_16x16x16, BF16_16, bf16)
KERNEL(bf16_32x32x8, BF16_32, bf16)
#if defined(__gfx950__)
KERNEL(f16_16x16x32, F16_16_LONG, float)
KERNEL(f16_32x32x16, F16_32_LONG, float)
KERNEL(bf16_16x16x32, BF16_16_LONG, bf16)
KERNEL(bf16_32x32x16, BF16_32_LONG, bf16)
#endif
