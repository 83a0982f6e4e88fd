// Sparse GEMM for RDNA4: eight waves of 64x32, instructions of 16x16x32 in f16, bf16, FP8 and i8.
#include "tile.h"

typedef __attribute__((ext_vector_type(8))) _Float16 f16x8;
typedef __attribute__((ext_vector_type(16))) _Float16 f16x16;
typedef __attribute__((ext_vector_type(8))) __bf16 bf16x8;
typedef __attribute__((ext_vector_type(16))) __bf16 bf16x16;
typedef __attribute__((ext_vector_type(2))) int bytes8;
typedef __attribute__((ext_vector_type(4))) int bytes16;
typedef __attribute__((ext_vector_type(8))) float f32x8;
typedef __attribute__((ext_vector_type(8))) int i32x8;
#define A_TILES 4  // of 16 rows
#define B_TILES 2  // of 16 columns

// One kind of elements: a lane's kept ones and K, 8 and 16 bytes or twice that, the sums of a tile, and the instruction.
#define KIND(name, bytes, ofA, ofB, sums, element, product)                                                      \
  struct name {                                                                                                  \
    static constexpr int BYTES = bytes;                                                                          \
    typedef ofA A;                                                                                               \
    typedef ofB B;                                                                                               \
    typedef sums Sums;                                                                                           \
    typedef element Sum;                                                                                         \
    static INLINE Sums multiply(A a, B b, Sums c, short index) { return product; }                               \
  };
KIND(F16, 2, f16x8, f16x16, f32x8, float, __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(a, b, c, index))
KIND(Bf16, 2, bf16x8, bf16x16, f32x8, float, __builtin_amdgcn_swmmac_f32_16x16x32_bf16_w32(a, b, c, index))
KIND(Fp8, 1, bytes8, bytes16, f32x8, float, __builtin_amdgcn_swmmac_f32_16x16x32_fp8_fp8_w32(a, b, c, index))
KIND(I8, 1, bytes8, bytes16, i32x8, int, __builtin_amdgcn_swmmac_i32_16x16x32_iu8_w32(true, a, true, b, c, index, false))

// A lane has row lane % 16 of A and of B: of 32 bytes of K the kept elements in 8 bytes from 8 h on and K in 16 bytes from 16 h
// on, h = lane / 16; a step has one such piece of elements of 8 bits, two of 16 bits. Their eight positions are half an index
// register; the last operand selects the half, so that one register serves two steps.
template <typename Kind>
struct Wave {
  static constexpr int PIECES = Kind::BYTES, WORDS = 2 / PIECES;  // of a step; index registers of a tile
  unsigned lane, half, first_m, first_n;
  const char *index;
  unsigned row_bytes, last;
  unsigned rows[A_TILES], held[2][A_TILES][WORDS];
  typename Kind::Sums sum[A_TILES][B_TILES];

  INLINE Wave(const Problem &p, unsigned row)
      : lane(threadIdx.x % 32), half(lane / 16), first_m(threadIdx.x / 128 * 64), first_n(threadIdx.x / 32 % 4 * 32),
        index(p.Index), row_bytes(p.K / 8), last(p.M - 1), sum{} {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i) {
      const unsigned at = row + first_m + 16 * i + lane % 16;
      rows[i] = at < last ? at : last;  // rows beyond the matrix: their results are not stored
    }
  }
  // Of each piece the byte (or two) of the lane's half, the steps of a register in turn.
  INLINE void start_index(int slot, int tile) {
    const unsigned select = Kind::BYTES == 2 ? (half ? 0x07050301 : 0x06040200) : (half ? 0x07060302 : 0x05040100);
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int word = 0; word < WORDS; ++word) {
        const words2 row = *(const words2 *)(index + rows[i] * (size_t)row_bytes + (tile * WORDS + word) * 8);
        held[slot][i][word] = __builtin_amdgcn_perm(row[1], row[0], select);
      }
  }
  template <int STEP>
  INLINE void step(const Tile &tile, int slot) {
    typename Kind::A a[A_TILES];
    typename Kind::B b[B_TILES];
#pragma unroll
    for (int part = 0; part < PIECES; ++part) {
      const unsigned unit = 2 * (PIECES * STEP + part) + half;
#pragma unroll
      for (int i = 0; i < A_TILES; ++i)
        ((words2 *)&a[i])[part] = *(const words2 *)(tile.kept + kept_place(first_m + 16 * i + lane % 16, unit));
#pragma unroll
      for (int j = 0; j < B_TILES; ++j)
        ((words4 *)&b[j])[part] = *(const words4 *)(tile.b + b_place(first_n + 16 * j + lane % 16, unit));
    }
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int j = 0; j < B_TILES; ++j)
        sum[i][j] = Kind::multiply(a[i], b[j], sum[i][j], (short)(held[slot][i][STEP / 2] >> 16 * (STEP % 2)));
  }
  INLINE void multiply(const Tile &tile, int slot) {
    step<0>(tile, slot);
    step<1>(tile, slot);
    if constexpr (WORDS == 2) {
      step<2>(tile, slot);
      step<3>(tile, slot);
    }
  }
  INLINE void store(const Problem &p, typename Kind::Sum *C, unsigned row, unsigned column) const {
#pragma unroll
    for (int i = 0; i < A_TILES; ++i)
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        const unsigned at = row + first_m + 16 * i + 8 * half + r;
        if (at <= last)
#pragma unroll
          for (int j = 0; j < B_TILES; ++j)
            C[(size_t)at * p.N + column + first_n + 16 * j + lane % 16] = sum[i][j][r];
      }
  }
};

SPARSE(sparse_wave32, F16)
SPARSE(sparse_wave32_bf16, Bf16)
SPARSE(sparse_wave32_fp8, Fp8)
SPARSE(sparse_wave32_i8, I8)
