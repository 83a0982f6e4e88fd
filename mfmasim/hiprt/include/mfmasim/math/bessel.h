// Bessel functions in double precision, so that they are accurate at their zeros, too. J and Y of order 0 and 1: below 3.5
// polynomials from which the only zero there is divided, above modulus and phase (NIST DLMF 10.18). Other orders by
// recurrence in the stable direction (DLMF 10.74(iv)).
#pragma once

#include <mfmasim/math/exponential.h>
#include <mfmasim/math/logarithm.h>
#include <mfmasim/math/trigonometry.h>

namespace mfmasim {

// (x - z)(x + z) and log(x / z), both exact near z.
MFMASIM_DEVICE double less_square(double x, pair z) {
  MFMASIM_AS_WRITTEN
  return ((x - z.hi) - z.lo) * (x + z.hi);
}
MFMASIM_DEVICE double log_quotient(double x, pair z) {
  MFMASIM_AS_WRITTEN
  return x < 0.5 * z.hi ? log(x / z.hi) : log1p(((x - z.hi) - z.lo) / z.hi);
}
// The power series (DLMF 10.2.2, 10.25.2) without (x/2)^order: the sum of (z/4)^k / (k! (k + order)!).
template <int order, int terms>
MFMASIM_MEMBER_DEVICE double bessel_series(double z) {
  MFMASIM_AS_WRITTEN
  double value = 1;
#pragma unroll
  for (int k = terms; k > 0; --k) value = fused(z * (0.25 / (k * (k + order))), value, 1.0);
  return value;
}
MFMASIM_DEVICE double j0_near(double x) {
  MFMASIM_AS_WRITTEN
  return x < 1 ? bessel_series<0, 10>(-x * x) : less_square(x, j0_zero) * horner(fused(x, x, -6.125), j0_rest);
}
MFMASIM_DEVICE double j1_near(double x) {
  MFMASIM_AS_WRITTEN
  return x * (x < 1 ? 0.5 * bessel_series<1, 10>(-x * x) : horner(fused(x, x, -6.125), j1_rest));
}

// sqrt(2 / (pi x)) modulus cos(x - pi/4 - quarters pi/2 + (start + more / x^2) / x).
MFMASIM_ROUTINE double bessel_wave(double x, double modulus, double start, double more, unsigned quarters) {
  MFMASIM_AS_WRITTEN
  angle a = reduce(x);
  pair phase = sum(quotient({start, 0}, {x, 0}), more / x / x / x);
  pair rest = sum(sum(a.rest, negative(atan_one)), phase);
  double k = __builtin_rint(rest.hi * 0x1.45f306dc9c883p-1);
  rest = sum(rest, product(half_pi, -k));
  double wave = collapse(cos_of({rest, a.turns + (unsigned)(int)k - quarters}));
  return __builtin_sqrt(0x1.45f306dc9c883p-1 / x) * modulus * wave;
}
#define MFMASIM_FAR(order, start)                                                                                        \
  MFMASIM_ROUTINE double bessel_##order##_far(double x, unsigned quarters) {                                             \
    MFMASIM_AS_WRITTEN                                                                                                   \
    double t = 1 / x / x, u = t - 0.051;                                                                                 \
    return x < 7 ? bessel_wave(x, horner(u, modulus_##order##_middle), start, horner(u, phase_##order##_middle), quarters) \
                 : bessel_wave(x, horner(t, modulus_##order##_far), start, horner(t, phase_##order##_far), quarters);    \
  }
MFMASIM_FAR(0, -0.125)
MFMASIM_FAR(1, 0.375)
#undef MFMASIM_FAR

MFMASIM_ROUTINE double j0(double x) {
  double size = magnitude(x);
  if (infinite(x)) return x != x ? x : 0.0;
  return size < 3.5 ? j0_near(size) : bessel_0_far(size, 0);
}
MFMASIM_ROUTINE double j1(double x) {
  double size = magnitude(x);
  if (infinite(x)) return x != x ? x : 0.0;
  return __builtin_copysign(1.0, x) * (size < 3.5 ? j1_near(size) : bessel_1_far(size, 1));
}
// Y is not defined below 0, -infinity at 0, and 0 at infinity.
MFMASIM_DEVICE double y_special(double x) { return x < 0 ? not_a_number() : x == 0 ? -infinity() : x != x ? x : 0.0; }
MFMASIM_ROUTINE double y0(double x) {
  MFMASIM_AS_WRITTEN
  if (!(x > 0) || infinite(x)) return y_special(x);
  if (x >= 3.5) return bessel_0_far(x, 1);
  double grown = 0x1.45f306dc9c883p-1 * log_quotient(x, y0_zero) * j0_near(x);
  return fused(less_square(x, y0_zero), horner(fused(x, x, -6.125), y0_rest), grown);
}
MFMASIM_ROUTINE double y1(double x) {
  MFMASIM_AS_WRITTEN
  if (!(x > 0) || infinite(x)) return y_special(x);
  if (x >= 3.5) return bessel_1_far(x, 2);
  double grown = 0x1.45f306dc9c883p-1 * log_quotient(x, y1_zero) * j1_near(x);
  return fused(less_square(x, y1_zero), horner(fused(x, x, -6.125), y1_rest) / x, grown);
}

// J of an order of at least 2 above the argument: the recurrence from far above downwards, scaled by
// 1 = J0 + 2 (J2 + J4 + ...).
MFMASIM_ROUTINE double jn_down(int n, double x) {
  MFMASIM_AS_WRITTEN
  if (x < 0x1p-26) {
    double value = 1;
    for (int i = 1; i <= n && value != 0; ++i) value *= 0.5 * x / i;
    return value;
  }
  double above = 0, here = 1, even = 0, wanted = 0;
  for (int i = (n + (int)__builtin_sqrt(160.0 * n)) / 2 * 2; i > 0; --i) {
    if (i == n) wanted = here;
    if (i % 2 == 0) even += here;
    double below = 2 * i / x * here - above;
    above = here, here = below;
    if (magnitude(here) > 0x1p400) above *= 0x1p-400, here *= 0x1p-400, even *= 0x1p-400, wanted *= 0x1p-400;
  }
  return wanted / (here + 2 * even);
}
MFMASIM_DEVICE double bessel_up(int n, double x, double below, double here) {
  MFMASIM_AS_WRITTEN
  for (int i = 1; i < n && here != -infinity(); ++i) {
    double above = 2.0 * i / x * here - below;
    below = here, here = above;
  }
  return here;
}
MFMASIM_ROUTINE double jn(int n, double x) {
  MFMASIM_AS_WRITTEN
  int order = n < 0 ? -n : n;
  double size = magnitude(x);
  if (infinite(x)) return x != x ? x : 0.0;
  if (order == 0) return j0(x);
  double value = order == 1 ? j1(size) : order <= size ? bessel_up(order, size, j0(size), j1(size)) : jn_down(order, size);
  return order % 2 && (x < 0) != (n < 0) ? -value : value;
}
MFMASIM_ROUTINE double yn(int n, double x) {
  MFMASIM_AS_WRITTEN
  int order = n < 0 ? -n : n;
  double value = order == 0 || !(x > 0) || infinite(x) ? y0(x) : bessel_up(order, x, y0(x), y1(x));
  return n < 0 && order % 2 ? -value : value;
}

// I of order 0 and 1, which grow as exp(x) / sqrt(x): `rest` is what remains.
MFMASIM_DEVICE double grown(double x, double rest) {
  MFMASIM_AS_WRITTEN
  power_of_e e = exp_parts({held(x, 1000), 0});
  double factor = rest / __builtin_sqrt(x);
  return scaled(fused(e.mantissa.hi, factor, e.mantissa.lo * factor), e.exponent);
}
MFMASIM_ROUTINE double cyl_bessel_i0(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x);
  if (infinite(x)) return size;
  return size < 8 ? bessel_series<0, 24>(x * x) : grown(size, horner(1 / size - 0.0625, i0_far));
}
MFMASIM_ROUTINE double cyl_bessel_i1(double x) {
  MFMASIM_AS_WRITTEN
  double size = magnitude(x);
  if (infinite(x)) return x;
  return size < 8 ? 0.5 * x * bessel_series<1, 24>(x * x) : __builtin_copysign(grown(size, horner(1 / size - 0.0625, i1_far)), x);
}

}  // namespace mfmasim
