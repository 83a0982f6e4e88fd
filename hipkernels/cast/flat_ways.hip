// The flat cast in other ways: by CDNA4's conversion with a scale, with loads past the caches, which were rejected, and
// element by element in software, as before the change.
#include "flat.h"

#if defined(__gfx950__)
// The instruction's scale is a power of two (of an f32 the exponent alone counts), so that the factor is multiplied before and
// the scale is 1.
struct by_scaled_conversion : usual {
  template <target To, overflow How>
  MFMASIM_DEVICE uint32_t four(const float *x) {
    float limited[4];
    for (int i = 0; i < 4; ++i) limited[i] = How == clamp ? clamped<To>(x[i]) : x[i];
    vector<short, 2> word = {};
    if constexpr (To == e4m3) {
      word = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(word, limited[0], limited[1], 1.0f, false);
      word = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(word, limited[2], limited[3], 1.0f, true);
    } else {
      word = __builtin_amdgcn_cvt_scalef32_pk_bf8_f32(word, limited[0], limited[1], 1.0f, false);
      word = __builtin_amdgcn_cvt_scalef32_pk_bf8_f32(word, limited[2], limited[3], 1.0f, true);
    }
    return mfmasim::bits<uint32_t>(word);
  }
};
#endif

// Every load with the hint that its line is not used again.
struct past_the_caches : usual {
  template <typename From>
  MFMASIM_DEVICE void load(From (&given)[EACH], const From *at, int64_t) {
    vector<uint32_t, 4> held[sizeof given / 16];
    for (unsigned i = 0; i < sizeof given / 16; ++i)
      held[i] = __builtin_nontemporal_load((const vector<uint32_t, 4> *)at + i);
    __builtin_memcpy(given, held, sizeof given);
  }
};
// Only for tensors of more than 512 MiB. Both branches load the same: a compiler may make one of them, without the hint.
struct past_the_caches_if_large : past_the_caches {
  template <typename From>
  MFMASIM_DEVICE void load(From (&given)[EACH], const From *at, int64_t n) {
    if (n * sizeof(From) > 512 << 20) past_the_caches::load(given, at, n);
    else usual::load(given, at, n);
  }
};

// Neither conversion instructions nor the hint of stores.
struct element_by_element : usual {
  template <target To, overflow How>
  MFMASIM_DEVICE uint32_t four(const float *x) {
    static_assert(To == e4m3, "of this format alone");
    uint32_t packed = 0;
    for (int i = 0; i < 4; ++i) packed |= (uint32_t)e4m3_in_software(x[i]) << 8 * i;
    return packed;
  }
  MFMASIM_DEVICE void store(vector<uint32_t, 4> packed, vector<uint32_t, 4> *at) { *at = packed; }
};

#define WAY(from, to, how, way)                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS) way##_##from##_##to##_##how(                              \
      const from *in, uint8_t *out, const float *noop, const float *scale, float *amax, float *scale_inv,         \
      int64_t n) {                                                                                                \
    cast<from, to, how, way>(in, out, noop, scale, amax, scale_inv, n);                                           \
  }
#define EVERY_INPUT(to, how, way) WAY(f32, to, how, way) WAY(f16, to, how, way) WAY(bf16, to, how, way)
#if defined(__gfx950__)
EVERY_INPUT(e4m3, clamp, by_scaled_conversion)
EVERY_INPUT(e5m2, clamp, by_scaled_conversion)
EVERY_INPUT(e4m3, plain, by_scaled_conversion)
EVERY_INPUT(e5m2, plain, by_scaled_conversion)
#endif
EVERY_INPUT(e4m3, clamp, past_the_caches)
EVERY_INPUT(e4m3, clamp, past_the_caches_if_large)
EVERY_INPUT(e4m3, clamp, element_by_element)
