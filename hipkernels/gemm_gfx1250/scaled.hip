// C = (A scale_A) (B scale_B)^T with A [M,K] and B [N,K] in FP8 or FP4, row-major, an E8M0 scale for 32 elements of K, C
// [M,N] in f32. Tiles of 64 rows and 128 elements of K come by the tensor data mover, in two slots; scales by plain loads.
// K is a multiple of 128.
#include "movers.h"

typedef unsigned char byte;

#define DEEP 128  // elements of K
#define GAP 16    // bytes between the rows of a tile

// Elements by their size in bits, and the number by which the instruction knows the format.
template <int Bits, int Format>
struct Scaled {
  static constexpr int bytes = DEEP * Bits / 8, pitch = bytes + GAP, parts = bytes / 32;
  typedef int fragment __attribute__((ext_vector_type(16)));  // of FP4 the first half

  struct Slot {
    byte a[SIZE * pitch], b[SIZE * pitch];
  };

  // A tile as bytes; `left` of the matrix's rows, and of the bytes of a row.
  static __device__ void move(byte *to, const byte *from, int rows, int left, int stride, unsigned who) {
    if (wave() != who) return;
    const size_t place = (size_t)from;
    const i4 where = {1, (int)address(to), (int)place, (int)(place >> 32 & 0x1FFFFFF) | (int)0x80000000};
    const int interval = Bits == 8 ? 4 : 3, padding = 1 << 20 | interval << 22 | 3 << 25;  // a row, and 4 dwords
    const i8 shape = {padding, left << 16, (int)((unsigned)left >> 16) | rows << 16, (int)((unsigned)rows >> 16) | bytes << 16,
                      SIZE, stride, 0, 0};
    __builtin_amdgcn_tensor_load_to_lds_d2(where, shape, 0);
  }

  // A lane holds 16 bytes of each 32, the lower or the upper ones.
  static __device__ fragment read(const byte *rows) {
    const unsigned lane = threadIdx.x % 32;
    const byte *place = rows + lane % 16 * pitch + lane / 16 * 16;
    fragment out = {};
    for (int part = 0; part < parts; ++part) {
      const i4 piece = *reinterpret_cast<const i4 *>(place + 32 * part);
      for (int k = 0; k < 4; ++k) out[4 * part + k] = piece[k];
    }
    return out;
  }

  // The four scales of a row and a step; the lanes of one half give them.
  static __device__ int scales(const byte *all, int row, int rows, int K, int k) {
    const int at = min(row + (int)threadIdx.x % 16, rows - 1);
    return *reinterpret_cast<const int *>(all + (size_t)at * (K / 32) + k / 32);
  }

  static __device__ f8 product(fragment a, fragment b, int scale_a, int scale_b, f8 sum) {
    return __builtin_amdgcn_wmma_scale_f32_16x16x128_f8f6f4(
        Format, a, Format, b, 0, sum, 0, 0, scale_a, 0, 0, scale_b, 0, 0);
  }

  static __device__ void gemm(const byte *A, const byte *B, const byte *SA, const byte *SB, float *C, int M, int N, int K) {
    __shared__ __attribute__((aligned(16))) Slot slots[2];
    const int row = blockIdx.y * SIZE, column = blockIdx.x * SIZE, length = K / 8 * Bits;
    const byte *a = A + (size_t)row * length, *b = B + (size_t)column * length;
    Sums sums;
    move(slots[0].a, a, M - row, length, length, 0);
    move(slots[0].b, b, N - column, length, length, 1);
    for (int k = 0, now = 0; k < K; k += DEEP, now ^= 1) {
      const int next = (k + DEEP) / 8 * Bits;
      if (k + DEEP < K) {
        move(slots[now ^ 1].a, a + next, M - row, length - next, length, 0);
        move(slots[now ^ 1].b, b + next, N - column, length - next, length, 1);
        Tensor::wait<1>();
      } else {
        Tensor::wait<0>();
      }
      __syncthreads();  // moved by all
      const int y = wave() / 2 * 32, x = wave() % 2 * 32;
      fragment left[2], right[2];
      int scale_a[2], scale_b[2];
      for (int i = 0; i < 2; ++i) {
        left[i] = read(slots[now].a + (y + 16 * i) * pitch);
        right[i] = read(slots[now].b + (x + 16 * i) * pitch);
        scale_a[i] = scales(SA, row + y + 16 * i, M, K, k);
        scale_b[i] = scales(SB, column + x + 16 * i, N, K, k);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          sums.of[i][j] = product(left[i], right[j], scale_a[i], scale_b[j], sums.of[i][j]);
      settle(sums);
      __syncthreads();  // read by all
    }
    store(sums, C, M, N, row, column);
  }
};

#define KERNEL(NAME, BITS, FORMAT)                                                                                \
  extern "C" __global__ void __launch_bounds__(32 * WAVES) NAME(const byte *A, const byte *B, const byte *SA,     \
                                                                const byte *SB, float *C, int M, int N, int K) {  \
    Scaled<BITS, FORMAT>::gemm(A, B, SA, SB, C, M, N, K);                                                         \
  }
KERNEL(scaled_e4m3fn, 8, 0)
KERNEL(scaled_e5m2, 8, 1)
KERNEL(scaled_e2m1fn, 4, 4)
