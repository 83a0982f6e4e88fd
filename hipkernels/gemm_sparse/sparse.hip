// Sparse GEMM for CDNA3 and CDNA4: four waves of 64x64, instructions of 32x32 in f16, bf16, FP8 and i8.
#include "tile.h"

typedef __attribute__((ext_vector_type(4))) _Float16 f16x4;
typedef __attribute__((ext_vector_type(8))) _Float16 f16x8;
typedef __attribute__((ext_vector_type(4))) short bf16x4;
typedef __attribute__((ext_vector_type(8))) short bf16x8;
typedef __attribute__((ext_vector_type(2))) int bytes8;
typedef __attribute__((ext_vector_type(4))) int bytes16;
typedef __attribute__((ext_vector_type(16))) float f32x16;
typedef __attribute__((ext_vector_type(16))) int i32x16;
#define TILES 2  // 32x32 each way

// One kind of elements: a lane's 8 bytes of A and 16 of B, the sums of a tile, and the instruction.
#define KIND(name, bytes, ofA, ofB, sums, element, instruction)                                                  \
  struct name {                                                                                                  \
    static constexpr int BYTES = bytes;                                                                          \
    typedef ofA A;                                                                                               \
    typedef ofB B;                                                                                               \
    typedef sums Sums;                                                                                           \
    typedef element Sum;                                                                                         \
    template <int PART>                                                                                          \
    static INLINE Sums multiply(A a, B b, Sums c, unsigned index) {                                              \
      return instruction(a, b, c, index, 0, PART);                                                               \
    }                                                                                                            \
  };
KIND(F16, 2, f16x4, f16x8, f32x16, float, __builtin_amdgcn_smfmac_f32_32x32x16_f16)
KIND(Bf16, 2, bf16x4, bf16x8, f32x16, float, __builtin_amdgcn_smfmac_f32_32x32x16_bf16)
KIND(Fp8, 1, bytes8, bytes16, f32x16, float, __builtin_amdgcn_smfmac_f32_32x32x32_fp8_fp8)
KIND(I8, 1, bytes8, bytes16, i32x16, int, __builtin_amdgcn_smfmac_i32_32x32x32_i8)

// A lane has row lane % 32 of A and of B: of a step of K, 32 bytes, the kept elements in 8 bytes from 8 h on and K in 16 bytes
// from 16 h on, h = lane / 32. Their positions are one byte of an index register (elements of 16 bits) or two; ABID selects
// them, so that one register serves four steps or two.
template <typename Kind>
struct Wave {
  static constexpr int WORDS = 2 / Kind::BYTES, PARTS = 4 / WORDS;  // index registers of a tile; steps of each
  unsigned lane, half, first_m, first_n;
  const char *index;
  unsigned row_bytes, last;
  unsigned held[2][TILES][WORDS];
  typename Kind::Sums sum[TILES][TILES];

  INLINE Wave(const Problem &p, unsigned row)
      : lane(threadIdx.x % 64), half(lane / 32), first_m(threadIdx.x / 128 * 64), first_n(threadIdx.x / 64 % 2 * 64),
        index(p.Index), row_bytes(p.K / 8), last(p.M - 1), sum{} {
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      const unsigned at = row + first_m + 32 * i + lane % 32;
      rows[i] = at < last ? at : last;  // rows beyond the matrix: their results are not stored
    }
  }
  unsigned rows[TILES];

  // Of each step the byte (or two) of the lane's half: h, 2 + h, 4 + h, 6 + h of eight, the steps of a register in turn.
  INLINE void start_index(int slot, int tile) {
    const unsigned select = Kind::BYTES == 2 ? (half ? 0x07050301 : 0x06040200) : (half ? 0x07060302 : 0x05040100);
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int word = 0; word < WORDS; ++word) {
        const words2 row = *(const words2 *)(index + rows[i] * (size_t)row_bytes + (tile * WORDS + word) * 8);
        held[slot][i][word] = __builtin_amdgcn_perm(row[1], row[0], select);
      }
  }
  template <int STEP>
  INLINE void step(const Tile &tile, int slot) {
    typename Kind::A a[TILES];
    typename Kind::B b[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      a[i] = *(const typename Kind::A *)(tile.kept + kept_place(first_m + 32 * i + lane % 32, 2 * STEP + half));
      b[i] = *(const typename Kind::B *)(tile.b + b_place(first_n + 32 * i + lane % 32, 2 * STEP + half));
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int j = 0; j < TILES; ++j)
        sum[i][j] = Kind::template multiply<STEP % PARTS>(a[i], b[j], sum[i][j], held[slot][i][STEP / PARTS]);
  }
  INLINE void multiply(const Tile &tile, int slot) {
    step<0>(tile, slot);
    step<1>(tile, slot);
    step<2>(tile, slot);
    step<3>(tile, slot);
  }
  INLINE void store(const Problem &p, typename Kind::Sum *C, unsigned row, unsigned column) const {
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        const unsigned at = row + first_m + 32 * i + 8 * (r / 4) + 4 * half + r % 4;
        if (at <= last)
#pragma unroll
          for (int j = 0; j < TILES; ++j)
            C[(size_t)at * p.N + column + first_n + 32 * j + lane % 32] = sum[i][j][r];
      }
  }
};

SPARSE(sparse_gemm, F16)
SPARSE(sparse_bf16, Bf16)
SPARSE(sparse_fp8, Fp8)
SPARSE(sparse_i8, I8)
