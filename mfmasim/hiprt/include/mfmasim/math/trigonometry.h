// sin, cos, tan and those in units of pi, in double precision: reduction to [-pi/4, pi/4] as a sum of two doubles.
#pragma once

#include <mfmasim/integers.h>
#include <mfmasim/math/coefficients.h>

namespace mfmasim {

struct angle {
  pair rest;      // within pi/4 of 0
  unsigned turns;  // quarter turns that were taken off, the two low bits
};

// x - k pi/2 with pi/2 as three doubles: enough while k is below 2^27.
MFMASIM_DEVICE angle reduce_small(double x) {
  MFMASIM_AS_WRITTEN
  double k = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  pair first = product(k, half_pi.hi), second = product(k, half_pi.lo);
  pair rest = sum(sum(sum(x, -first.hi), -first.lo), negative(second));
  return {sum(rest, -k * half_pi_third), (unsigned)(int)k};
}

// M. H. Payne and R. N. Hanek, 1983: of the product with 2/pi only the bits below 4 matter, and of 2/pi only those
// that reach them. x = m 2^e with an integer m; three words of 2/pi from bit e - 2 on give a product modulo 4.
MFMASIM_ROUTINE angle reduce_large(double x) {
  MFMASIM_AS_WRITTEN
  uint64_t code = bits<uint64_t>(magnitude(x));
  int e = (int)(code >> 52) - 1075, skip = e - 2 + 64;
  uint64_t m = (code & 0xfffffffffffffull) | 1ull << 52;
  uint64_t words[3];
  for (int i = 0; i < 3; ++i) {
    int word = (skip >> 6) + i, shift = skip & 63;
    words[i] = two_over_pi[word] << shift | (shift ? two_over_pi[word + 1] >> (64 - shift) : 0);
  }
  uint64_t low = words[2] * m, carry = __umul64hi(words[2], m);
  uint64_t middle = words[1] * m + carry;
  uint64_t high = words[0] * m + __umul64hi(words[1], m) + (middle < carry);
  unsigned turns = (unsigned)(high >> 62);
  high = high << 2 | middle >> 62, middle = middle << 2 | low >> 62, low <<= 2;
  // A fraction above one half is taken as what lacks to the next quarter turn.
  bool above = high >> 63;
  if (above) {
    ++turns;
    high = ~high, middle = ~middle, low = ~low;
  }
  int zeros = high ? __builtin_clzll(high) : 64;
  if (zeros == 64) high = middle, middle = low;
  else if (zeros) high = high << zeros | middle >> (64 - zeros), middle = middle << zeros | low >> (64 - zeros);
  double head = (double)(high >> 11), tail = (double)((high & 0x7ff) << 53 | middle >> 11);
  pair fraction = quick_sum(scaled(head, -53 - zeros), scaled(tail, -53 - 64 - zeros));
  pair rest = product(fraction, half_pi);
  bool minus = above != (bool)__builtin_signbit(x);
  return {minus ? negative(rest) : rest, __builtin_signbit(x) ? 0u - turns : turns};
}
MFMASIM_DEVICE angle reduce(double x) { return magnitude(x) < 0x1p27 ? reduce_small(x) : reduce_large(x); }
// In units of pi the reduction is exact.
MFMASIM_DEVICE angle reduce_pi(double x) {
  MFMASIM_AS_WRITTEN
  double k = __builtin_rint(x + x), quarter = k - 4 * __builtin_floor(k * 0.25);
  return {product(pi, fused(k, -0.5, x)), (unsigned)(int)quarter};
}

MFMASIM_DEVICE pair small_sin(pair r) {
  MFMASIM_AS_WRITTEN
  double z = r.hi * r.hi, cube = r.hi * z;
  return quick_sum(r.hi, fused(cube, horner(z, sin_tail), fused(-0.5 * z, r.lo, r.lo)));
}
MFMASIM_DEVICE pair small_cos(pair r) {
  MFMASIM_AS_WRITTEN
  pair half = product(r.hi, r.hi * -0.5);
  double z = r.hi * r.hi;
  pair start = quick_sum(1.0, half.hi);
  return quick_sum(start.hi, start.lo + (half.lo + fused(z * z, horner(z, cos_tail), -r.hi * r.lo)));
}
MFMASIM_DEVICE pair sin_of(angle a) {
  MFMASIM_AS_WRITTEN
  pair value = a.turns & 1 ? small_cos(a.rest) : small_sin(a.rest);
  return a.turns & 2 ? negative(value) : value;
}
MFMASIM_DEVICE pair cos_of(angle a) { MFMASIM_AS_WRITTEN return sin_of({a.rest, a.turns + 1}); }
MFMASIM_DEVICE pair tan_of(angle a) { return quotient(sin_of(a), cos_of(a)); }
MFMASIM_DEVICE double collapse(pair value) { MFMASIM_AS_WRITTEN return value.hi + value.lo; }

// An infinite angle is none; a tiny one is its own sine, and keeps its sign.
MFMASIM_DEVICE double turned(double x) { return magnitude(x) < infinity() ? x : 0.0; }
MFMASIM_DEVICE double no_angle(double x) { MFMASIM_AS_WRITTEN return x - x; }
MFMASIM_DEVICE bool infinite(double x) { return !(magnitude(x) < infinity()); }

MFMASIM_ROUTINE double sin(double x) {
  MFMASIM_AS_WRITTEN
  if (infinite(x)) return no_angle(x);
  return magnitude(x) < 0x1p-27 ? x : collapse(sin_of(reduce(x)));
}
MFMASIM_ROUTINE double cos(double x) { return infinite(x) ? no_angle(x) : collapse(cos_of(reduce(x))); }
MFMASIM_ROUTINE double tan(double x) {
  MFMASIM_AS_WRITTEN
  if (infinite(x)) return no_angle(x);
  return magnitude(x) < 0x1p-27 ? x : collapse(tan_of(reduce(x)));
}
MFMASIM_ROUTINE double sinpi(double x) {
  MFMASIM_AS_WRITTEN
  if (infinite(x)) return no_angle(x);
  if (__builtin_rint(x) == x) return __builtin_copysign(0.0, x);
  return magnitude(x) < 0x1p-500 ? collapse(product(pi, x)) : collapse(sin_of(reduce_pi(x)));
}
MFMASIM_ROUTINE double cospi(double x) {
  MFMASIM_AS_WRITTEN
  if (infinite(x)) return no_angle(x);
  return __builtin_rint(x) != x && __builtin_rint(x + x) == x + x ? 0.0 : collapse(cos_of(reduce_pi(x)));
}

}  // namespace mfmasim
