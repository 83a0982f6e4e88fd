// The 8-bit formats bit by bit, for the ones the architecture has no instruction for.
// Sources: OCP OFP8 specification 1.0 (E4M3, E5M2); CDNA3 ISA manual, "FP8 and BF8" (FNUZ).
#pragma once

#include <mfmasim/casts.h>
#include <mfmasim/qualifiers.h>
#include <stdint.h>

// Which flavour the conversion instructions speak.
#if defined(__gfx942__)
#define MFMASIM_HARDWARE_FNUZ 1
#elif defined(__gfx950__) || defined(__gfx1200__) || defined(__gfx1201__) || defined(__gfx1250__)
#define MFMASIM_HARDWARE_OCP 1
#endif

namespace mfmasim {

struct fp8_format {
  int mantissa;       // bits; the exponent has 7 minus these
  int bias;           // of the exponent
  bool fnuz;          // one NaN, 0x80; no infinity, no negative zero
  bool infinity;      // E5M2 of OCP
  uint32_t largest;   // code of the largest finite value
};

constexpr fp8_format e4m3fn = {3, 7, false, false, 0x7e};
constexpr fp8_format e5m2 = {2, 15, false, true, 0x7b};
constexpr fp8_format e4m3fnuz = {3, 8, true, false, 0x7f};
constexpr fp8_format e5m2fnuz = {2, 16, true, false, 0x7f};

// Nearest even. A finite value beyond the range becomes the largest one if `saturate`, else infinity or NaN;
// an infinity stays one where the format has it and is a NaN where not, as the hardware converts it.
MFMASIM_HOST_DEVICE uint8_t encode(float value, fp8_format f, bool saturate) {
  uint32_t word = bits<uint32_t>(value), sign = word >> 24 & 0x80, magnitude = word & 0x7fffffff;
  uint8_t nan = f.fnuz ? 0x80 : (uint8_t)(sign | 0x7f);
  if (magnitude > 0x7f800000) return nan;
  uint32_t beyond = f.infinity ? 0x7c : 0xff;
  if (magnitude == 0x7f800000) return f.infinity ? (uint8_t)(sign | beyond) : nan;
  int exponent = (int)(magnitude >> 23) - 127 + f.bias;
  uint32_t significand = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000 : 0), code = 0;
  int shift = 23 - f.mantissa + (exponent < 1 ? 1 - exponent : 0);
  if (shift <= 24) {
    code = (significand + (1u << (shift - 1)) - 1 + (significand >> shift & 1)) >> shift;
    // A normal significand carries its leading one into the exponent field.
    if (exponent >= 1) code += (uint32_t)(exponent - 1) << f.mantissa;
  }
  if (code > f.largest) {
    if (saturate) code = f.largest;
    else if (f.infinity) code = beyond;
    else return nan;
  }
  return (uint8_t)(f.fnuz && code == 0 ? 0 : (sign | code));
}

MFMASIM_HOST_DEVICE float decode(uint8_t code, fp8_format f) {
  uint32_t sign = (uint32_t)(code & 0x80) << 24, magnitude = code & 0x7f;
  uint32_t exponent = magnitude >> f.mantissa, fraction = magnitude & ((1u << f.mantissa) - 1);
  if (f.fnuz ? code == 0x80 : magnitude > (f.infinity ? 0x7cu : 0x7eu)) return bits<float>(sign | 0x7fc00000);
  if (f.infinity && magnitude == 0x7c) return bits<float>(sign | 0x7f800000);
  if (exponent == 0) {
    // Exact: the fraction has at most three bits.
    float smallest = bits<float>((uint32_t)(127 + 1 - f.bias - f.mantissa) << 23);
    return bits<float>(sign | bits<uint32_t>((float)fraction * smallest));
  }
  return bits<float>(sign | (exponent - f.bias + 127) << 23 | fraction << (23 - f.mantissa));
}

// Inside the finite range; infinities and NaNs pass, as in HIP's own conversion.
MFMASIM_DEVICE float clip(float value, float largest) {
  return (bits<uint32_t>(value) & 0x7f800000) == 0x7f800000 ? value : __builtin_amdgcn_fmed3f(value, largest, -largest);
}

}  // namespace mfmasim
