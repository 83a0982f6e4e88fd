// A matrix of any size to codes with a scale for each 32 elements of a row, or of a column, and back. The last block of
// a line is shorter where 32 does not divide its length. FP8 codes stay where their elements were; FP4 codes lie two to a
// byte along their block, the first in the low nibble, so that blocks of columns give the transposed matrix, and the
// last nibble of a line of odd length is 0. Scales lie as the blocks do: (rows, blocks) or (blocks, columns).
#include "mx.h"

constexpr int THREADS = 256, EACH = 8, SHARES = BLOCK / EACH;

// Odd lengths put words on any address: the hardware serves it, and the type says it.
template <typename T>
using anywhere = T __attribute__((aligned(1)));

// The larger one of two lanes that are `apart`; both have come here.
MFMASIM_DEVICE uint32_t higher(uint32_t mine, int apart) {
  return max(mine, (uint32_t)__builtin_amdgcn_ds_bpermute((threadIdx.x ^ apart) % warpSize * 4, (int)mine));
}

// Four threads a block, 8 elements each.
template <typename From, target To>
__device__ void quantise_rows(const From *in, uint8_t *out, uint8_t *scales, int64_t rows, int64_t cols, int how) {
  const int64_t blocks = (cols + BLOCK - 1) / BLOCK, place = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  const int64_t block = place / SHARES, row = block / blocks;
  if (row >= rows) return;
  const int64_t col = block % blocks * BLOCK + place % SHARES * EACH;
  const int count = (int)min((int64_t)EACH, cols - col);
  From given[EACH] = {};
  if (count == EACH) __builtin_memcpy(given, in + row * cols + col, sizeof given);
  else
    for (int i = 0; i < EACH; ++i)
      if (i < count) given[i] = in[row * cols + col + i];
  float x[EACH];
  uint32_t highest = 0;
  for (int i = 0; i < EACH; ++i) x[i] = widen(given[i]), highest = max(highest, (uint32_t)magnitude(x[i]));
  highest = higher(higher(highest, 1), 2);
  const int code = scale_of<To>(highest, how);
  if (place % SHARES == 0) scales[block] = (uint8_t)code;
  if constexpr (To == e2m1) {
    uint32_t word = pack_scaled<To>(x, code);
    if (count < EACH) word &= (1u << 4 * max(count, 0)) - 1;  // a NaN scale makes codes of the zeros that fill up
    uint8_t *line = out + row * ((cols + 1) / 2) + col / 2;
    if (count == EACH) *(anywhere<uint32_t> *)line = word;
    else
      for (int i = 0; i < EACH / 2; ++i)
        if (2 * i < count) line[i] = (uint8_t)(word >> 8 * i);
  } else {
    const uint64_t word = pack_scaled<To>(x, code) | (uint64_t)pack_scaled<To>(x + 4, code) << 32;
    uint8_t *line = out + row * cols + col;
    if (count == EACH) *(anywhere<uint64_t> *)line = word;
    else
      for (int i = 0; i < EACH; ++i)
        if (i < count) line[i] = (uint8_t)(word >> 8 * i);
  }
}

// One thread a block; its neighbours have the columns beside it.
template <typename From, target To>
__device__ void quantise_columns(const From *in, uint8_t *out, uint8_t *scales, int64_t rows, int64_t cols, int how) {
  const int64_t block = (int64_t)blockIdx.x * THREADS + threadIdx.x, first = block / cols * BLOCK, col = block % cols;
  if (first >= rows) return;
  const int count = (int)min((int64_t)BLOCK, rows - first);
  float x[BLOCK] = {};
  uint32_t highest = 0;
#pragma unroll
  for (int i = 0; i < BLOCK; ++i) {
    if (i < count) x[i] = widen(in[(first + i) * cols + col]);
    highest = max(highest, (uint32_t)magnitude(x[i]));
  }
  const int code = scale_of<To>(highest, how);
  scales[block] = (uint8_t)code;
  constexpr int Codes = To == e2m1 ? 8 : 4;
#pragma unroll
  for (int i = 0; i < BLOCK; i += Codes) {
    uint32_t word = pack_scaled<To>(x + i, code);
    if constexpr (To == e2m1) {
      if (count - i < Codes) word &= (1u << 4 * max(count - i, 0)) - 1;
      uint8_t *line = out + col * ((rows + 1) / 2) + (first + i) / 2;
      for (int j = 0; j < 4; ++j)
        if (i + 2 * j < count) line[j] = (uint8_t)(word >> 8 * j);
    } else {
      for (int j = 0; j < 4; ++j)
        if (i + j < count) out[(first + i + j) * cols + col] = (uint8_t)(word >> 8 * j);
    }
  }
}

// One thread an element of the matrix.
template <target From, bool Down>
__device__ void dequantise(const uint8_t *in, const uint8_t *scales, float *out, int64_t rows, int64_t cols) {
  const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, row = at / cols, col = at % cols;
  if (row >= rows) return;
  const int scale = scales[Down ? row / BLOCK * cols + col : row * ((cols + BLOCK - 1) / BLOCK) + col / BLOCK];
  const int64_t line = Down ? col : row, length = Down ? rows : cols, place = Down ? row : col;
  const uint8_t code = From == e2m1 ? in[line * ((length + 1) / 2) + place / 2] : in[at];
  out[at] = scaled<From>(code, place % 2, scale);
}

#define QUANTISE(from, to, way)                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS) mx_##from##_##to##_##way(                                 \
      const from *in, uint8_t *out, uint8_t *scales, int rows, int cols, int how) {                               \
    enter_scaled();                                                                                               \
    quantise_##way##s<from, to>(in, out, scales, rows, cols, how);                                                \
  }
#define BOTH_WAYS(from, to) QUANTISE(from, to, row) QUANTISE(from, to, column)
#define EVERY_TARGET(from) BOTH_WAYS(from, e4m3) BOTH_WAYS(from, e5m2) BOTH_WAYS(from, e2m1)
EVERY_TARGET(f32)
EVERY_TARGET(f16)
EVERY_TARGET(bf16)

#define DEQUANTISE(to, way, down)                                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS) mx_##to##_##way##_back(                                   \
      const uint8_t *in, const uint8_t *scales, float *out, int rows, int cols) {                                 \
    dequantise<to, down>(in, scales, out, rows, cols);                                                            \
  }
#define BOTH_BACK(to) DEQUANTISE(to, row, false) DEQUANTISE(to, column, true)
BOTH_BACK(e4m3)
BOTH_BACK(e5m2)
BOTH_BACK(e2m1)
