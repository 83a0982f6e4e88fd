// What every kernel of the family shares: reading an element as f32, the three ways to meet values beyond the range,
// packing four FP8 into a dword, and the numbers beside the data: noop flag, amax, scale_inv.
#pragma once

#include <hip/hip_runtime.h>
#include <mfmasim/fp8.h>
#include <stdint.h>

typedef float f32;
typedef _Float16 f16;
struct bf16 {
  uint16_t code;
};

// e2m1 is an element of the formats with a scale alone.
enum target { e4m3, e5m2, e2m1 };
// clamp: into the finite range first, NaN passes. ovfl: MODE.FP16_OVFL does it. plain: NaN, or Inf where E5M2 has it.
enum overflow { clamp, ovfl, plain };

template <typename T, int N>
using vector = T __attribute__((ext_vector_type(N)));

MFMASIM_DEVICE float widen(f32 x) { return x; }
MFMASIM_DEVICE float widen(f16 x) { return x; }
MFMASIM_DEVICE float widen(bf16 x) { return mfmasim::bits<float>((uint32_t)x.code << 16); }

// Largest finite values. FNUZ has one more exponent of bias: CDNA3 ISA manual, 7.2; OCP OFP8 1.0, table 1.
template <target To>
constexpr float largest = To == e5m2 ? 57344.0f :
#if defined(__gfx942__)
                                     240.0f;
#else
                                     448.0f;
#endif

// V_MED3_F32 of a NaN is a number: the NaN has to be kept by hand.
template <target To>
MFMASIM_DEVICE float clamped(float x) {
  return x != x ? x : __builtin_amdgcn_fmed3f(x, largest<To>, -largest<To>);
}

// Two f32 into the lower or upper half of a dword.
template <target To, overflow How, bool Upper>
MFMASIM_DEVICE int pack_two(float x, float y, int old) {
  if constexpr (How == clamp) x = clamped<To>(x), y = clamped<To>(y);
  if constexpr (To == e4m3) return __builtin_amdgcn_cvt_pk_fp8_f32(x, y, old, Upper);
  else return __builtin_amdgcn_cvt_pk_bf8_f32(x, y, old, Upper);
}

template <target To, overflow How>
MFMASIM_DEVICE uint32_t pack_four(const float *x) {
  int word = pack_two<To, How, false>(x[0], x[1], 0);
  return pack_two<To, How, true>(x[2], x[3], word);
}

template <target To, overflow How>
MFMASIM_DEVICE uint8_t convert_one(float x) {
  return (uint8_t)pack_two<To, How, false>(x, 0.0f, 0);
}

// E4M3 without a conversion instruction.
MFMASIM_DEVICE uint8_t e4m3_in_software(float x) {
#if defined(MFMASIM_HARDWARE_FNUZ)
  return mfmasim::encode(clamped<e4m3>(x), mfmasim::e4m3fnuz, true);
#else
  return mfmasim::encode(clamped<e4m3>(x), mfmasim::e4m3fn, true);
#endif
}

// FP16_OVFL is bit 23 of MODE, hardware register 1; CDNA3 ISA manual, 4.5 and 7.2.
template <overflow How>
MFMASIM_DEVICE void enter_mode() {
  if constexpr (How == ovfl) __builtin_amdgcn_s_setreg(1 | 23 << 6, 1);
}

MFMASIM_DEVICE bool skipped(const float *noop) { return noop && noop[0] == 1.0f; }

// |x| as an integer: the order of magnitudes, with infinity above every number and NaN above infinity.
MFMASIM_DEVICE int magnitude(float x) { return (int)(mfmasim::bits<uint32_t>(x) & 0x7fffffff); }

// The block's largest magnitude into amax. Signed integers: a preset with the sign bit counts as nothing.
template <int Threads>
MFMASIM_DEVICE void collect_amax(int highest, float *amax) {
  __shared__ int staging[Threads / 32];
  const int wave = threadIdx.x / warpSize, waves = Threads / warpSize;
  for (int step = warpSize / 2; step; step /= 2)
    highest = max(highest, __builtin_amdgcn_ds_bpermute((threadIdx.x ^ step) % warpSize * 4, highest));
  if (threadIdx.x % warpSize == 0) staging[wave] = highest;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < waves; ++i) highest = max(highest, staging[i]);
    atomicMax((int *)amax, highest);
  }
}

// Correctly rounded: V_RCP_F32 alone may be off by one unit. A scale of 0 gives infinity, infinity gives 0.
MFMASIM_DEVICE void define_scale_inv(float scale, float *scale_inv) {
  if (blockIdx.x == 0 && threadIdx.x == 0) scale_inv[0] = 1.0f / scale;
}
