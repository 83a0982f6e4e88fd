// exp and its family in double precision. One core: x = k log(2) + r, exp(r) by a polynomial, both parts of r carried.
#pragma once

#include <mfmasim/math/coefficients.h>

namespace mfmasim {

// (mantissa.hi + mantissa.lo) 2^exponent, the mantissa between 0.7 and 1.5.
struct power_of_e {
  pair mantissa;
  int exponent;
};

// exp(r) - 1 for a sum with |r| <= log(2)/2 and a little more.
MFMASIM_DEVICE pair small_expm1(pair r) {
  MFMASIM_AS_WRITTEN
  return quick_sum(r.hi, fused(r.hi * r.hi, horner(r.hi, exp_tail), fused(r.hi, r.lo, r.lo)));
}

// exp(x) for a sum whose magnitude is below 2^20.
MFMASIM_DEVICE power_of_e exp_parts(pair x) {
  MFMASIM_AS_WRITTEN
  double k = __builtin_rint(x.hi * log2_e.hi);
  pair whole = product(k, ln2.hi);
  pair r = sum(sum(sum(x.hi, -whole.hi), -whole.lo), fused(-k, ln2.lo, x.lo));
  return {sum(small_expm1(r), 1.0), (int)k};
}
MFMASIM_DEVICE double collapse(power_of_e value, int more = 0) {
  MFMASIM_AS_WRITTEN
  return scaled(value.mantissa.hi + value.mantissa.lo, value.exponent + more);
}
// Where every result is 0 or infinite the argument is held, so that k stays a small integer. A NaN is held as well.
MFMASIM_DEVICE double held(double x, double limit) { MFMASIM_AS_WRITTEN return __builtin_fmin(__builtin_fmax(x, -limit), limit); }
MFMASIM_DEVICE double exp_of(pair x) {
  MFMASIM_AS_WRITTEN
  double hi = held(x.hi, 2000.0);
  return collapse(exp_parts({hi, hi == x.hi ? x.lo : 0.0}));
}

MFMASIM_ROUTINE double exp(double x) { return x != x ? x : exp_of({x, 0}); }
MFMASIM_ROUTINE double exp2(double x) {
  MFMASIM_AS_WRITTEN
  double from = held(x, 3000.0), k = __builtin_rint(from);
  pair mantissa = sum(small_expm1(product(ln2, from - k)), 1.0);
  return x != x ? x : collapse({mantissa, (int)k});
}
MFMASIM_ROUTINE double exp10(double x) {
  MFMASIM_AS_WRITTEN
  double from = held(x, 2000.0);
  return x != x ? x : collapse(exp_parts(product(ln10, from)));
}

// exp(x) - 1 for |x| < 700, relative to the result.
MFMASIM_DEVICE pair expm1_pair(double x) {
  MFMASIM_AS_WRITTEN
  power_of_e power = exp_parts({x, 0});
  if (power.exponent == 0) return small_expm1({x, 0});
  return sum(doubled(power.mantissa, power.exponent), -1.0);
}
MFMASIM_ROUTINE double expm1(double x) {
  MFMASIM_AS_WRITTEN
  if (x != x || x == 0) return x;
  if (x > 700.0) return exp(x);
  if (x < -60.0) return -1.0;
  pair result = expm1_pair(x);
  return result.hi + result.lo;
}

}  // namespace mfmasim
