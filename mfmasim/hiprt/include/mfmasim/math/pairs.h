// Numbers as the unevaluated sum of two doubles, about 105 bits: what the functions of this folder carry where rounding
// once too often would cost the last bit. Every operation is exact or loses less than 2^-100 of the result.
// Sources of the error-free transformations: T. J. Dekker 1971, D. E. Knuth (TAOCP 2, 4.2.2).
#pragma once

#include <mfmasim/casts.h>
#include <mfmasim/qualifiers.h>

// First in a function: its sums and products are neither contracted nor rearranged, whatever the user's flags say.
#define MFMASIM_AS_WRITTEN _Pragma("clang fp contract(off) reassociate(off)")

// Larger functions: the compiler decides whether to inline them.
#define MFMASIM_ROUTINE static __device__ inline __attribute__((nodebug))

namespace mfmasim {

struct pair {
  double hi, lo;
};

MFMASIM_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
MFMASIM_DEVICE double magnitude(double x) { return __builtin_fabs(x); }
MFMASIM_DEVICE double scaled(double x, int exponent) { return __builtin_ldexp(x, exponent); }

// |a| >= |b|, or a is 0.
MFMASIM_DEVICE pair quick_sum(double a, double b) {
  MFMASIM_AS_WRITTEN
  double sum = a + b;
  return {sum, b - (sum - a)};
}
MFMASIM_DEVICE pair sum(double a, double b) {
  MFMASIM_AS_WRITTEN
  double total = a + b, part = total - a;
  return {total, (a - (total - part)) + (b - part)};
}
MFMASIM_DEVICE pair sum(pair a, double b) {
  MFMASIM_AS_WRITTEN
  pair high = sum(a.hi, b);
  return quick_sum(high.hi, high.lo + a.lo);
}
MFMASIM_DEVICE pair sum(pair a, pair b) {
  MFMASIM_AS_WRITTEN
  pair high = sum(a.hi, b.hi), low = sum(a.lo, b.lo);
  high = quick_sum(high.hi, high.lo + low.hi);
  return quick_sum(high.hi, high.lo + low.lo);
}
MFMASIM_DEVICE pair negative(pair a) { MFMASIM_AS_WRITTEN return {-a.hi, -a.lo}; }
MFMASIM_DEVICE pair product(double a, double b) {
  MFMASIM_AS_WRITTEN
  double high = a * b;
  return {high, fused(a, b, -high)};
}
MFMASIM_DEVICE pair product(pair a, double b) {
  MFMASIM_AS_WRITTEN
  pair high = product(a.hi, b);
  return quick_sum(high.hi, fused(a.lo, b, high.lo));
}
MFMASIM_DEVICE pair product(pair a, pair b) {
  MFMASIM_AS_WRITTEN
  pair high = product(a.hi, b.hi);
  return quick_sum(high.hi, high.lo + fused(a.hi, b.lo, a.lo * b.hi));
}
MFMASIM_DEVICE pair quotient(pair a, pair b) {
  MFMASIM_AS_WRITTEN
  double first = a.hi / b.hi;
  pair rest = sum(a, negative(product(b, first)));
  return quick_sum(first, rest.hi / b.hi);
}
MFMASIM_DEVICE pair root(pair a) {
  MFMASIM_AS_WRITTEN
  double first = __builtin_sqrt(a.hi);
  double rest = fused(-first, first, a.hi) + a.lo;
  return a.hi > 0 ? quick_sum(first, rest / (first + first)) : pair{first, 0};
}
MFMASIM_DEVICE pair doubled(pair a, int exponent) { return {scaled(a.hi, exponent), scaled(a.lo, exponent)}; }

// c[0] + x (c[1] + x (c[2] + ...)).
template <unsigned count>
MFMASIM_MEMBER_DEVICE double horner(double x, const double (&c)[count]) {
  MFMASIM_AS_WRITTEN
  double value = c[count - 1];
#pragma unroll
  for (int i = (int)count - 2; i >= 0; --i) value = fused(value, x, c[i]);
  return value;
}

MFMASIM_DEVICE double infinity() { return __builtin_inf(); }
MFMASIM_DEVICE double not_a_number() { return __builtin_nan(""); }

}  // namespace mfmasim
