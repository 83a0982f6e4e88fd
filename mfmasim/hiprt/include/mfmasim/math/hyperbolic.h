// sinh, cosh, tanh and their inverses in double precision, through exp and log of sums of two doubles.
#pragma once

#include <mfmasim/math/exponential.h>
#include <mfmasim/math/logarithm.h>

namespace mfmasim {

// (exp(x) + sign exp(-x)) / 2 for 0.3 < x < 750.
MFMASIM_DEVICE double half_of_both(double x, double sign) {
  MFMASIM_AS_WRITTEN
  power_of_e up = exp_parts({x, 0});
  if (x > 40) return collapse(up, -1);
  pair down = quotient({sign, 0}, up.mantissa);
  pair value = sum(up.mantissa, doubled(down, -2 * up.exponent));
  return scaled(value.hi + value.lo, up.exponent - 1);
}
MFMASIM_ROUTINE double sinh(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x), result;
  if (!(size < infinity()) || size < 0x1p-28) return x;
  if (size < 0.4) {
    pair e = expm1_pair(size);
    pair value = sum(e, quotient(e, sum(e, 1.0)));
    result = 0.5 * (value.hi + value.lo);
  } else {
    result = half_of_both(held(size, 750), -1);
  }
  return __builtin_copysign(result, x);
}
MFMASIM_ROUTINE double cosh(double x) {
  MFMASIM_AS_WRITTEN
  return x != x ? x : half_of_both(held(magnitude(x), 750), 1);
}
MFMASIM_ROUTINE double tanh(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x);
  if (x != x || size < 0x1p-28) return x;
  if (size > 22) return __builtin_copysign(1.0, x);
  pair e = expm1_pair(size + size);
  pair value = quotient(e, sum(e, 2.0));
  return __builtin_copysign(value.hi + value.lo, x);
}

MFMASIM_ROUTINE double asinh(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x);
  if (!(size < infinity()) || size < 0x1p-28) return x;
  pair value;
  if (size > 0x1p30) {
    value = sum(log_pair({size, 0}), ln2);
  } else {
    pair square = product(size, size), side = root(sum(square, 1.0));
    value = log1p_pair(sum(quotient(square, sum(side, 1.0)), size));
  }
  return __builtin_copysign(value.hi + value.lo, x);
}
MFMASIM_ROUTINE double acosh(double x) {
  MFMASIM_AS_WRITTEN
  if (!(x >= 1)) return not_a_number();
  if (x == infinity()) return x;
  pair value;
  if (x > 0x1p30) {
    value = sum(log_pair({x, 0}), ln2);
  } else {
    pair above = sum(x, -1.0);
    value = log1p_pair(sum(above, root(product(above, sum(above, 2.0)))));
  }
  return value.hi + value.lo;
}
MFMASIM_ROUTINE double atanh(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x);
  if (!(size <= 1)) return not_a_number();
  if (size == 1) return __builtin_copysign(infinity(), x);
  if (size < 0x1p-28) return x;
  pair value = log1p_pair(quotient({2 * size, 0}, sum(1.0, -size)));
  return __builtin_copysign(0.5 * (value.hi + value.lo), x);
}

}  // namespace mfmasim
