// Logarithms in double precision: log(m) = 2 atanh((m - 1) / (m + 1)) for a mantissa near 1, as a sum of two doubles.
#pragma once

#include <mfmasim/math/coefficients.h>

namespace mfmasim {

struct logarithm {
  pair mantissa;  // log(m), m between 1/sqrt(2) and sqrt(2)
  double exponent;
};

// For a positive finite sum.
MFMASIM_DEVICE logarithm log_parts(pair x) {
  MFMASIM_AS_WRITTEN
  int k;
  double m = __builtin_frexp(x.hi, &k);  // 0.5 <= m < 1
  if (m < sqrt_half.hi) --k;
  m = scaled(x.hi, -k);
  double rest = scaled(x.lo, -k);
  pair s = quotient(sum(sum(m, -1.0), rest), sum(sum(m, 1.0), rest));
  pair z = product(s, s);
  pair tail = product(z, sum(third, z.hi * horner(z.hi, log_tail)));
  return {doubled(sum(s, product(s, tail)), 1), (double)k};
}
MFMASIM_DEVICE pair log_pair(pair x) {
  MFMASIM_AS_WRITTEN
  logarithm parts = log_parts(x);
  return sum(product(ln2, parts.exponent), parts.mantissa);
}

// What all logarithms say of 0, negative numbers, infinity and NaN; else `value`.
MFMASIM_DEVICE double log_edges(double x, double value) {
  MFMASIM_AS_WRITTEN
  if (x == infinity() || x != x) return x;
  return x > 0 ? value : x == 0 ? -infinity() : not_a_number();
}
// A positive finite number in place of every other.
MFMASIM_DEVICE double log_argument(double x) { return x > 0 && x < infinity() ? x : 1.0; }

MFMASIM_ROUTINE double log(double x) {
  MFMASIM_AS_WRITTEN
  pair value = log_pair({log_argument(x), 0});
  return log_edges(x, value.hi + value.lo);
}
MFMASIM_ROUTINE double log2(double x) {
  MFMASIM_AS_WRITTEN
  logarithm parts = log_parts({log_argument(x), 0});
  pair value = sum(product(log2_e, parts.mantissa), parts.exponent);
  return log_edges(x, value.hi + value.lo);
}
MFMASIM_ROUTINE double log10(double x) {
  MFMASIM_AS_WRITTEN
  logarithm parts = log_parts({log_argument(x), 0});
  pair value = sum(product(log10_2, parts.exponent), product(log10_e, parts.mantissa));
  return log_edges(x, value.hi + value.lo);
}
// log(1 + x) for a sum above -1.
MFMASIM_DEVICE pair log1p_pair(pair x) { return log_pair(sum(x, 1.0)); }
MFMASIM_ROUTINE double log1p(double x) {
  MFMASIM_AS_WRITTEN
  if (!(x > -1) || x == infinity()) return log_edges(x + 1, 0);
  pair value = log1p_pair({x, 0});
  return magnitude(x) < 0x1p-54 ? x : value.hi + value.lo;
}

}  // namespace mfmasim
