// The flat cast of every format, in three ways to meet values beyond the range.
#include "flat.h"

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
