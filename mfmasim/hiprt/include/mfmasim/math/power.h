// pow, cbrt, hypot and the norms, reciprocal roots, in double precision.
#pragma once

#include <mfmasim/math/exponential.h>
#include <mfmasim/math/logarithm.h>

namespace mfmasim {

// pow of a positive finite base, times a sign.
MFMASIM_DEVICE double positive_power(double base, double exponent, double sign) {
  MFMASIM_AS_WRITTEN
  pair logarithm = log_pair({base, 0});
  // Beyond this every result is 0 or infinite, and the product would lose its low part.
  double y = held(exponent, 0x1p80);
  pair power = product(logarithm, y);
  if (!(magnitude(power.hi) < 2000.0)) power = {power.hi > 0 ? 2000.0 : -2000.0, 0};
  return sign * exp_of(power);
}

// Special cases: C17, F.10.4.4.
MFMASIM_ROUTINE double pow(double x, double y) {
  MFMASIM_AS_WRITTEN
  if (x == 1 || y == 0) return 1;
  if (x != x || y != y) return x + y;
  double size = magnitude(x);
  bool whole = __builtin_rint(y) == y;
  bool odd = whole && magnitude(y) < 0x1p53 && __builtin_rint(y * 0.5) != y * 0.5;
  double sign = __builtin_signbit(x) && odd ? -1.0 : 1.0;
  if (magnitude(y) == infinity()) {
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? infinity() : 0.0;
  }
  if (x == 0 || size == infinity()) return sign * ((x == 0) == (y > 0) ? 0.0 : infinity());
  if (x < 0 && !whole) return not_a_number();
  return positive_power(size, y, sign);
}
MFMASIM_ROUTINE double powi(double x, int n) { return pow(x, (double)n); }

// The cube root of a mantissa in [1, 8): a polynomial, two steps of Halley's method, and the last bits from the residue.
MFMASIM_DEVICE pair cbrt_pair(double m) {
  MFMASIM_AS_WRITTEN
  double y = horner(m, cbrt_seed);
  for (int i = 0; i < 2; ++i) {
    double cube = y * y * y;
    y = y - y * (cube - m) / (cube + cube + m);
  }
  pair cube = product(product(y, y), y);
  pair rest = sum(negative(cube), m);
  return quick_sum(y, rest.hi / (3 * y * y));
}
// |x| = m 8^k with 1 <= m < 8.
MFMASIM_DEVICE double cube_mantissa(double x, int &k) {
  MFMASIM_AS_WRITTEN
  int exponent;
  __builtin_frexp(x, &exponent);
  k = (exponent - 1 + 3072) / 3 - 1024;
  return scaled(magnitude(x), -3 * k);
}
MFMASIM_ROUTINE double cbrt(double x) {
  MFMASIM_AS_WRITTEN
  if (!(magnitude(x) < infinity()) || x == 0) return x;
  int k;
  pair result = cbrt_pair(cube_mantissa(x, k));
  return __builtin_copysign(scaled(result.hi + result.lo, k), x);
}
MFMASIM_ROUTINE double rcbrt(double x) {
  MFMASIM_AS_WRITTEN
  if (x != x) return x;
  if (x == 0 || magnitude(x) == infinity()) return 1 / x;
  int k;
  pair result = quotient({1, 0}, cbrt_pair(cube_mantissa(x, k)));
  return __builtin_copysign(scaled(result.hi + result.lo, -k), x);
}
MFMASIM_ROUTINE double rsqrt(double x) {
  MFMASIM_AS_WRITTEN
  if (!(x > 0) || x == infinity()) return 1 / __builtin_sqrt(x);
  // The residue of a root needs room below: an even power of two makes it.
  bool small = x < 0x1p-900;
  pair result = quotient({1, 0}, root({small ? x * 0x1p200 : x, 0}));
  return (result.hi + result.lo) * (small ? 0x1p100 : 1.0);
}

// The square root of a sum of squares, scaled so that no square leaves the range; infinity wins over NaN.
template <unsigned count>
MFMASIM_MEMBER_DEVICE double norm_of(const double (&values)[count], bool reciprocal) {
  MFMASIM_AS_WRITTEN
  double largest = 0, all = 0;
  for (unsigned i = 0; i < count; ++i) {
    largest = __builtin_fmax(largest, magnitude(values[i]));
    all += values[i];
  }
  if (largest == infinity()) return reciprocal ? 0.0 : infinity();
  if (all != all || largest == 0) return reciprocal ? 1 / magnitude(all) : magnitude(all);
  int k;
  __builtin_frexp(largest, &k);
  pair squares = {0, 0};
  for (unsigned i = 0; i < count; ++i) {
    double value = scaled(values[i], -k);
    squares = sum(squares, product(value, value));
  }
  pair result = root(squares);
  if (reciprocal) {
    result = quotient({1, 0}, result);
    return scaled(result.hi + result.lo, -k);
  }
  return scaled(result.hi + result.lo, k);
}
MFMASIM_ROUTINE double hypot(double x, double y) { return norm_of<2>({x, y}, false); }
MFMASIM_ROUTINE double rhypot(double x, double y) { return norm_of<2>({x, y}, true); }
MFMASIM_ROUTINE double norm3d(double x, double y, double z) { return norm_of<3>({x, y, z}, false); }
MFMASIM_ROUTINE double rnorm3d(double x, double y, double z) { return norm_of<3>({x, y, z}, true); }
MFMASIM_ROUTINE double norm4d(double x, double y, double z, double w) { return norm_of<4>({x, y, z, w}, false); }
MFMASIM_ROUTINE double rnorm4d(double x, double y, double z, double w) { return norm_of<4>({x, y, z, w}, true); }

}  // namespace mfmasim
