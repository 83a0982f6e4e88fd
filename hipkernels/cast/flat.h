// A tensor of any shape to FP8: flat, grid-stride, 16 elements a thread, one 16-byte store that bypasses the caches'
// reuse, and the last n % 16 elements one by one. scale is applied in f32; amax is the unscaled input's.
//
// `Way` says how elements are loaded and converted; the text's is the usual one.
#pragma once

#include "convert.h"

constexpr int THREADS = 256, EACH = 16;

struct usual {
  template <typename From>
  MFMASIM_DEVICE void load(From (&given)[EACH], const From *at, int64_t) {
    __builtin_memcpy(given, __builtin_assume_aligned(at, 16), sizeof given);
  }
  template <target To, overflow How>
  MFMASIM_DEVICE uint32_t four(const float *x) {
    return pack_four<To, How>(x);
  }
  MFMASIM_DEVICE void store(vector<uint32_t, 4> packed, vector<uint32_t, 4> *at) {
    __builtin_nontemporal_store(packed, at);
  }
};

template <typename From, target To, overflow How, typename Way = usual>
__device__ void cast(const From *in, uint8_t *out, const float *noop, const float *scale, float *amax,
                     float *scale_inv, int64_t n) {
  if (skipped(noop)) return;
  enter_mode<How>();
  const float factor = scale[0];
  const int64_t bulk = n / EACH, step = (int64_t)gridDim.x * THREADS;
  int highest = 0;
  for (int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x; v < bulk; v += step) {
    alignas(16) From given[EACH];
    Way::load(given, in + v * EACH, n);
    float scaled[EACH];
    for (int i = 0; i < EACH; ++i) {
      const float x = widen(given[i]);
      highest = max(highest, magnitude(x));
      scaled[i] = x * factor;
    }
    vector<uint32_t, 4> packed;
    for (int i = 0; i < 4; ++i) packed[i] = Way::template four<To, How>(scaled + 4 * i);
    Way::store(packed, (vector<uint32_t, 4> *)out + v);
  }
  const int64_t last = bulk * EACH + threadIdx.x;
  if (blockIdx.x == 0 && last < n) {
    const float x = widen(in[last]);
    highest = max(highest, magnitude(x));
    const float alone[4] = {x * factor};
    out[last] = (uint8_t)Way::template four<To, How>(alone);
  }
  collect_amax<THREADS>(highest, amax);
  define_scale_inv(factor, scale_inv);
}
