// A tensor of any shape to FP8: flat, grid-stride, 16 elements a thread, one 16-byte store that bypasses the caches'
// reuse, and the last n % 16 elements one by one. scale is applied in f32; amax is the unscaled input's.
#include "convert.h"

constexpr int THREADS = 256, EACH = 16;

template <typename From, target To, overflow How>
__device__ void cast(const From *in, uint8_t *out, const float *noop, const float *scale, float *amax,
                     float *scale_inv, int64_t n) {
  if (skipped(noop)) return;
  enter_mode<How>();
  const float factor = scale[0];
  const int64_t bulk = n / EACH, step = (int64_t)gridDim.x * THREADS;
  int highest = 0;
  for (int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x; v < bulk; v += step) {
    alignas(16) From given[EACH];
    __builtin_memcpy(given, __builtin_assume_aligned(in + v * EACH, 16), sizeof given);
    float scaled[EACH];
    for (int i = 0; i < EACH; ++i) {
      const float x = widen(given[i]);
      highest = max(highest, magnitude(x));
      scaled[i] = x * factor;
    }
    vector<uint32_t, 4> packed;
    for (int i = 0; i < 4; ++i) packed[i] = pack_four<To, How>(scaled + 4 * i);
    __builtin_nontemporal_store(packed, (vector<uint32_t, 4> *)out + v);
  }
  const int64_t last = bulk * EACH + threadIdx.x;
  if (blockIdx.x == 0 && last < n) {
    const float x = widen(in[last]);
    highest = max(highest, magnitude(x));
    out[last] = convert_one<To, How>(x * factor);
  }
  collect_amax<THREADS>(highest, amax);
  define_scale_inv(factor, scale_inv);
}

#define CAST(from, to, how)                                                                                       \
  extern "C" __global__ void __launch_bounds__(THREADS) cast_##from##_##to##_##how(                               \
      const from *in, uint8_t *out, const float *noop, const float *scale, float *amax, float *scale_inv,         \
      int64_t n) {                                                                                                \
    cast<from, to, how>(in, out, noop, scale, amax, scale_inv, n);                                                \
  }
#define EVERY_OVERFLOW(from, to) CAST(from, to, clamp) CAST(from, to, ovfl) CAST(from, to, plain)
#define EVERY_TARGET(from) EVERY_OVERFLOW(from, e4m3) EVERY_OVERFLOW(from, e5m2)
EVERY_TARGET(f32)
EVERY_TARGET(f16)
EVERY_TARGET(bf16)

// What a tensor without elements still needs.
extern "C" __global__ void cast_nothing(const float *noop, const float *scale, float *scale_inv) {
  if (!skipped(noop)) define_scale_inv(scale[0], scale_inv);
}
