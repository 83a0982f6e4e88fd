// erf, erfc, erfcx, normcdf and the inverses, in double precision. Near 0 a polynomial for erf, further out
// exp(-x^2) times a polynomial for erfcx.
#pragma once

#include <mfmasim/math/exponential.h>
#include <mfmasim/math/logarithm.h>

namespace mfmasim {

MFMASIM_DEVICE pair erf_near_pair(double x) {
  MFMASIM_AS_WRITTEN
  // Near 1 the terms of x and x^3 are larger than what they add to x: their roundings would cost half a unit.
  pair square = product(x, x);
  pair slope = sum(erf_cubic, square.hi * horner(square.hi, erf_tail));
  pair added = product(sum(erf_slope, product(slope, square)), x);
  pair value = quick_sum(x, added.hi);
  return {value.hi, value.lo + added.lo};
}
// exp(x^2) erfc(x) for x >= 1/2.
MFMASIM_DEVICE double scaled_erfc(double x) {
  MFMASIM_AS_WRITTEN
  if (x < 2) return horner(x - 1.25, erfc_middle);
  if (x < 10) return horner(1 / x - 0.3125, erfc_far) / x;
  double inverse = 1 / x;
  return horner(inverse * inverse, erfc_farthest) * inverse;
}
// exp(-x^2) of a sum, times a factor; zero from 2^5 on.
MFMASIM_DEVICE double gaussian(pair x, double factor) {
  MFMASIM_AS_WRITTEN
  if (x.hi > 32) return 0;
  power_of_e e = exp_parts(negative(product(x, x)));
  return scaled(fused(e.mantissa.hi, factor, e.mantissa.lo * factor), e.exponent);
}
// erfc for x >= 1/2, given as a sum.
MFMASIM_DEVICE double upper_erfc(pair x) { return gaussian(x, scaled_erfc(x.hi)); }

MFMASIM_ROUTINE double erf(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x);
  if (x != x) return x;
  if (size < 1) {
    pair value = erf_near_pair(x);
    return __builtin_copysign(value.hi + value.lo, x);  // erf(-0) is -0
  }
  return __builtin_copysign(1.0 - upper_erfc({size, 0}), x);
}
MFMASIM_DEVICE double erfc_of(pair x) {
  MFMASIM_AS_WRITTEN
  if (magnitude(x.hi) < 0.5) {
    pair value = sum(negative(erf_near_pair(x.hi)), 1.0);
    return value.hi + (value.lo - x.lo * 0x1.20dd750429b6dp+0);
  }
  double far = upper_erfc(x.hi < 0 ? negative(x) : x);
  return x.hi < 0 ? 2.0 - far : far;
}
MFMASIM_ROUTINE double erfc(double x) { return x != x ? x : erfc_of({x, 0}); }
MFMASIM_ROUTINE double erfcx(double x) {
  MFMASIM_AS_WRITTEN
  if (x >= 0.5) return scaled_erfc(x);
  return x != x ? x : x < -27 ? infinity() : exp_of(product(x, x)) * erfc_of({x, 0});
}
MFMASIM_ROUTINE double normcdf(double x) {
  MFMASIM_AS_WRITTEN
  return x != x ? x : 0.5 * erfc_of(product(negative(sqrt_half), held(x, 60)));
}

// The x whose erfc is p, for 0 < p <= 1: a start from the tail's shape, and Newton's steps on erfc / its slope.
MFMASIM_ROUTINE double inverse_erfc(double p) {
  MFMASIM_AS_WRITTEN
  double t = __builtin_sqrt(-2 * log(0.5 * p));
  double x = 0x1.6a09e667f3bcdp-1 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
  for (int i = 0; i < 3; ++i) {
    // slope = -2/sqrt(pi) exp(-x^2); Halley's correction makes the step cubic.
    double ratio = (erfc_of({x, 0}) - p) * 0x1.c5bf891b4ef6ap-1 * exp_of(product(x, x));
    x += ratio / (1 + x * ratio);
  }
  return x;
}
MFMASIM_ROUTINE double erfinv(double y) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(y);
  if (!(size <= 1)) return not_a_number();
  if (size == 1) return __builtin_copysign(infinity(), y);
  double x;
  if (size > 0.5) {
    x = inverse_erfc(1 - size);
  } else {
    x = size * 0x1.c5bf891b4ef6bp-1;
    for (int i = 0; i < 4; ++i) {
      pair value = erf_near_pair(x);
      double ratio = (value.hi - size + value.lo) * 0x1.c5bf891b4ef6ap-1 * exp_of(product(x, x));
      x -= ratio / (1 + x * ratio);
    }
  }
  return __builtin_copysign(x, y);
}
// 1 - p is exact where p is near 1, and only there the difference would lose digits.
MFMASIM_ROUTINE double erfcinv(double p) {
  MFMASIM_AS_WRITTEN
  if (!(p >= 0 && p <= 2)) return not_a_number();
  if (p == 0 || p == 2) return p == 0 ? infinity() : -infinity();
  if (p > 0.5 && p < 1.5) return erfinv(1 - p);
  return p <= 1 ? inverse_erfc(p) : -inverse_erfc(2 - p);
}
MFMASIM_ROUTINE double normcdfinv(double p) { MFMASIM_AS_WRITTEN return -0x1.6a09e667f3bcdp+0 * erfcinv(2 * p); }

}  // namespace mfmasim
