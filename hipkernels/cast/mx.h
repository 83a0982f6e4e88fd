// Formats with a scale for each 32 elements (OCP MX 1.0): how the scale follows from the block's largest magnitude, and
// elements to and from codes. The elements are OCP's on every architecture: gfx950 converts and scales in one
// instruction, gfx12 has one for FP8, what is left is done in software; the bytes are the same.
#pragma once

#include "convert.h"

#include <mfmasim/small_floats.h>

constexpr int BLOCK = 32;

// How the scale is chosen; E is the exponent of the format's largest number.
enum rule {
  ocp,    // OCP MX 1.0, 6.3: 2^(floor(log2 amax) - E); the largest numbers may saturate
  ceil_,  // 2^(ceil(log2 amax) - E)
  rceil,  // the smallest power of two with which amax fits
  even    // as ocp, after amax was rounded to the element's mantissa
};

// Of an element format: mantissa bits, exponent of the largest number, and its mantissa as that of an f32.
template <target To>
constexpr int mantissa_bits = To == e4m3 ? 3 : To == e5m2 ? 2 : 1;
template <target To>
constexpr int top_exponent = To == e4m3 ? 8 : To == e5m2 ? 15 : 2;
template <target To>
constexpr uint32_t top_mantissa = To == e2m1 ? 0x400000 : 0x600000;
template <target To>
constexpr float top = To == e4m3 ? 448.0f : To == e5m2 ? 57344.0f : 6.0f;

// The E8M0 code. A NaN among the elements makes it NaN, an infinity the largest one.
template <target To>
MFMASIM_DEVICE int scale_of(uint32_t highest, int how) {
  if (highest > 0x7f800000) return 0xff;
  if (highest == 0x7f800000) return 0xfe;
  const uint32_t mantissa = highest & 0x7fffff;
  int up = 0;
  if (how == ceil_) up = mantissa != 0;
  else if (how == rceil) up = mantissa > top_mantissa<To>;
  else if (how == even) up = (mantissa + (1u << (22 - mantissa_bits<To>))) >> 23;
  return max(0, (int)(highest >> 23) - top_exponent<To> + up);
}

MFMASIM_DEVICE float power(int code) {
  return mfmasim::bits<float>(code == 0xff ? 0x7fc00000u : code ? (uint32_t)code << 23 : 0x400000u);
}

// Conversions that saturate by themselves need MODE to say so.
MFMASIM_DEVICE void enter_scaled() {
#if defined(__gfx950__)
  enter_mode<ovfl>();
#endif
}

#if defined(__gfx950__)
// One dword of codes: four FP8, or eight FP4, the first lowest.
template <target To>
MFMASIM_DEVICE uint32_t pack_scaled(const float *x, int code) {
  const float scale = power(code);
  if constexpr (To == e2m1) {
    uint32_t word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(0, x[0], x[1], scale, 0);
    word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[2], x[3], scale, 1);
    word = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[4], x[5], scale, 2);
    return __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(word, x[6], x[7], scale, 3);
  } else {
    vector<short, 2> word = {};
    if constexpr (To == e4m3) {
      word = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(word, x[0], x[1], scale, false);
      word = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(word, x[2], x[3], scale, true);
    } else {
      word = __builtin_amdgcn_cvt_scalef32_pk_bf8_f32(word, x[0], x[1], scale, false);
      word = __builtin_amdgcn_cvt_scalef32_pk_bf8_f32(word, x[2], x[3], scale, true);
    }
    return mfmasim::bits<uint32_t>(word);
  }
}

// An element and its scale as a number; `code` holds an FP8, or two FP4 of which `upper` chooses.
template <target From>
MFMASIM_DEVICE float scaled(uint32_t code, bool upper, int scale) {
  vector<float, 2> pair;
  if constexpr (From == e2m1) pair = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(code, power(scale), 0);
  else if constexpr (From == e4m3) pair = __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(code, power(scale), false);
  else pair = __builtin_amdgcn_cvt_scalef32_pk_f32_bf8(code, power(scale), false);
  return From == e2m1 && upper ? pair[1] : pair[0];
}
#else
template <target To>
MFMASIM_DEVICE uint8_t element_of(float x) {
  if constexpr (To == e2m1) return mfmasim::encode_small(x, mfmasim::e2m1, hipRoundNearest);
  else return mfmasim::encode(x, To == e4m3 ? mfmasim::e4m3fn : mfmasim::e5m2, true);
}

template <target To>
MFMASIM_DEVICE uint32_t pack_scaled(const float *x, int code) {
  constexpr int Each = To == e2m1 ? 8 : 4;
  // The inverse of a power of two is one, too: the product is the quotient, unless both round to zero.
  const float inverse = power(254 - min(code, 254));
  float divided[Each];
  for (int i = 0; i < Each; ++i) {
    const float quotient = x[i] * inverse;
    const float inside = quotient != quotient ? quotient : __builtin_amdgcn_fmed3f(quotient, top<To>, -top<To>);
    divided[i] = code == 0xff ? __builtin_copysignf(power(0xff), x[i]) : inside;
  }
#if defined(MFMASIM_HARDWARE_OCP)
  if constexpr (To != e2m1) return pack_four<To, plain>(divided);
#endif
  uint32_t word = 0;
  for (int i = 0; i < Each; ++i) word |= (uint32_t)element_of<To>(divided[i]) << 32 / Each * i;
  return word;
}

template <target From>
MFMASIM_DEVICE float scaled(uint32_t code, bool upper, int scale) {
  if constexpr (From == e2m1) return mfmasim::decode_small(upper ? code >> 4 : code & 15, mfmasim::e2m1) * power(scale);
  else return mfmasim::decode((uint8_t)code, From == e4m3 ? mfmasim::e4m3fn : mfmasim::e5m2) * power(scale);
}
#endif
