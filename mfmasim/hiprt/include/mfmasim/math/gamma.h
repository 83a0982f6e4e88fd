// tgamma and lgamma in double precision: polynomials around the zeros of lgamma, Stirling's series elsewhere, the
// reflection at 0 for negative arguments.
#pragma once

#include <mfmasim/math/exponential.h>
#include <mfmasim/math/logarithm.h>
#include <mfmasim/math/trigonometry.h>

namespace mfmasim {

// lgamma(x) for x >= 12, without the factor that moved x there.
MFMASIM_DEVICE pair stirling_series(double x) {
  MFMASIM_AS_WRITTEN
  double inverse = 1 / x;
  pair main = sum(product(sum(log_pair({x, 0}), -1.0), sum(x, -0.5)), sum(half_log_two_pi, -0.5));
  return sum(main, inverse * horner(inverse * inverse, stirling));
}
// x (x + 1) ... up to the first factor of 12 or more, which is left out and returned in `end`.
MFMASIM_DEVICE pair rising_product(double x, double &end) {
  MFMASIM_AS_WRITTEN
  pair result = {1, 0}, factor = {x, 0};
  while (factor.hi < 12) {
    result = product(result, factor);
    factor = sum(factor, 1.0);
  }
  end = factor.hi;
  // What the last factor loses by rounding is the derivative's business: digamma(12) is about log(12).
  return product(result, sum(1.0, factor.lo * -2.44));
}

MFMASIM_DEVICE pair positive_lgamma(double x) {
  MFMASIM_AS_WRITTEN
  if (x < 0.7) {
    double above = x <= 0.5 ? x * horner(x - 0.125, lgamma_one) : (x - 1) * horner(x - 1.25, lgamma_two);
    return sum(negative(log_pair({x, 0})), above);
  }
  if (x <= 1.5) return {(x - 1) * horner(x - 1.125, lgamma_one), 0};
  if (x <= 3) return {(x - 2) * horner(x - 2.25, lgamma_two), 0};
  if (x > 0x1p60) return product(sum(log_pair({x, 0}), -1.0), x);
  double end;
  pair moved = rising_product(x, end);
  return sum(stirling_series(end), negative(log_pair(moved)));
}

// Special cases: C17, F.10.5.3 and F.10.5.4.
MFMASIM_ROUTINE double lgamma(double x) {
  MFMASIM_AS_WRITTEN
  if (x != x) return x;
  if (magnitude(x) == infinity() || x == 0) return infinity();
  if (x > 0) {
    if (x > 0x1p1014) return infinity();
    pair value = positive_lgamma(x);
    return value.hi + value.lo;
  }
  if (__builtin_rint(x) == x) return infinity();
  if (x > -0x1p-60) return -log(-x);
  // lgamma(x) = log(pi / |x sin(pi x)|) - lgamma(-x).
  pair sine = product(sin_of(reduce_pi(x)), x);
  pair value = sum(log_pair(quotient(pi, sine.hi < 0 ? negative(sine) : sine)), negative(positive_lgamma(-x)));
  return value.hi + value.lo;
}

// gamma(x) for x > 0 as exp of Stirling's series over the product that moved x.
MFMASIM_DEVICE power_of_e positive_gamma(double x) {
  MFMASIM_AS_WRITTEN
  double end;
  pair moved = rising_product(x, end);
  power_of_e value = exp_parts(stirling_series(end));
  return {quotient(value.mantissa, moved), value.exponent};
}
MFMASIM_ROUTINE double tgamma(double x) {
  MFMASIM_AS_WRITTEN
  if (x != x || x == infinity()) return x;
  if (x == 0) return __builtin_copysign(infinity(), x);
  if (x > 172) return infinity();
  if (magnitude(x) < 0x1p-60) return 1 / x;
  if (x > 0) return collapse(positive_gamma(x));
  if (x == -infinity() || __builtin_rint(x) == x) return not_a_number();
  pair sine = sin_of(reduce_pi(x));
  if (x < -190) return sine.hi < 0 ? 0.0 : -0.0;
  // gamma(x) = -pi / (x sin(pi x) gamma(-x)).
  power_of_e other = positive_gamma(-x);
  pair value = quotient(negative(pi), product(product(sine, x), other.mantissa));
  return scaled(value.hi + value.lo, -other.exponent);
}

}  // namespace mfmasim
