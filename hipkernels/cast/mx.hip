// Formats with a scale for each 32 elements of a row, or of a column: quantised and back; gfx950.
// The scale is the smallest power of two with which the block's largest magnitude still fits ("round up"), so that no
// number saturates; OCP MX 1.0, 6.3, rounds it down. A NaN in a block makes its scale NaN (0xff), an infinity 0xfe.
#include "convert.h"

constexpr int BLOCK = 32, THREADS = 256;
enum small { e2m1 };

// Largest value of an element format: its exponent, and its mantissa as that of an f32.
template <auto To>
constexpr int top_exponent = __is_same(decltype(To), small) ? 2 : To == (decltype(To))e4m3 ? 8 : 15;
template <auto To>
constexpr uint32_t top_mantissa = __is_same(decltype(To), small) ? 0x400000 : 0x600000;

template <auto To>
MFMASIM_DEVICE uint8_t scale_of(uint32_t highest) {
  if (highest > 0x7f800000) return 0xff;
  if (highest == 0x7f800000) return 0xfe;
  return (uint8_t)max(0, (int)(highest >> 23) - top_exponent<To> + ((highest & 0x7fffff) > top_mantissa<To>));
}

MFMASIM_DEVICE float power(int code) {
  return mfmasim::bits<float>(code == 0xff ? 0x7fc00000u : code ? (uint32_t)code << 23 : 0x400000u);
}

template <typename From, auto To, bool Down>
__device__ void quantise(const From *in, uint8_t *out, uint8_t *scales, int rows, int cols) {
  const int64_t block = (int64_t)blockIdx.x * THREADS + threadIdx.x, each = Down ? cols : cols / BLOCK;
  if (block >= (Down ? rows / BLOCK : rows) * each) return;
  const int64_t first = Down ? block / each * BLOCK * cols + block % each : block * BLOCK, step = Down ? cols : 1;
  float x[BLOCK];
  uint32_t highest = 0;
  for (int i = 0; i < BLOCK; ++i) {
    x[i] = widen(in[first + i * step]);
    highest = max(highest, (uint32_t)magnitude(x[i]));
  }
  const int code = scale_of<To>(highest);
  scales[block] = (uint8_t)code;
  if constexpr (__is_same(decltype(To), small)) {
    const float factor = power(code);
    for (int i = 0; i < BLOCK / 8; ++i) {
      uint32_t word = 0;
      word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[8 * i], x[8 * i + 1], factor, 0);
      word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[8 * i + 2], x[8 * i + 3], factor, 1);
      word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[8 * i + 4], x[8 * i + 5], factor, 2);
      word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[8 * i + 6], x[8 * i + 7], factor, 3);
      ((uint32_t *)out)[first / 8 + i] = word;
    }
  } else {
    const float inverse = code == 0xff ? power(0xff) : power(254 - code);
    for (int i = 0; i < BLOCK; ++i) out[first + i * step] = convert_one<To, clamp>(x[i] * inverse);
  }
}

template <target To, bool Down>
__device__ void dequantise(const uint8_t *in, const uint8_t *scales, float *out, int rows, int cols) {
  const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (at >= (int64_t)rows * cols) return;
  const int64_t block = Down ? at / cols / BLOCK * cols + at % cols : at / BLOCK;
  const float x = To == e4m3 ? __builtin_amdgcn_cvt_f32_fp8(in[at], 0) : __builtin_amdgcn_cvt_f32_bf8(in[at], 0);
  out[at] = x * power(scales[block]);
}

#define QUANTISE(from, to, way, down)                                                                            \
  extern "C" __global__ void __launch_bounds__(THREADS) mx_##from##_##to##_##way(                                 \
      const from *in, uint8_t *out, uint8_t *scales, int rows, int cols) {                                        \
    quantise<from, to, down>(in, out, scales, rows, cols);                                                        \
  }
#define DEQUANTISE(to, way, down)                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) mx_##to##_##way##_back(                                   \
      const uint8_t *in, const uint8_t *scales, float *out, int rows, int cols) {                                 \
    dequantise<to, down>(in, scales, out, rows, cols);                                                            \
  }
#define BOTH_WAYS(from)                                                        \
  QUANTISE(from, e4m3, row, false) QUANTISE(from, e4m3, column, true)          \
  QUANTISE(from, e5m2, row, false) QUANTISE(from, e5m2, column, true)          \
  QUANTISE(from, e2m1, row, false)
BOTH_WAYS(f32)
BOTH_WAYS(bf16)
DEQUANTISE(e4m3, row, false)
DEQUANTISE(e4m3, column, true)
DEQUANTISE(e5m2, row, false)
DEQUANTISE(e5m2, column, true)
