// atan2, and atan, asin, acos through it, in double precision: arguments and results as sums of two doubles.
#pragma once

#include <mfmasim/math/trigonometry.h>

namespace mfmasim {

// atan(y / x) for 0 <= y <= x. The slope is moved by an eighth of a turn or by atan(1/2), so that 1/4 is left at most.
MFMASIM_DEVICE pair octant_atan(pair y, pair x) {
  MFMASIM_AS_WRITTEN
  double c = y.hi < 0.25 * x.hi ? 0.0 : y.hi < 0.75 * x.hi ? 0.5 : 1.0;
  pair base = c == 0.0 ? pair{0, 0} : c == 0.5 ? atan_half : atan_one;
  pair scaled_x = {c * x.hi, c * x.lo}, scaled_y = {c * y.hi, c * y.lo};
  pair u = quotient(sum(y, negative(scaled_x)), sum(x, scaled_y));
  double z = u.hi * u.hi;
  pair tail = quick_sum(u.hi, fused(u.hi * z, horner(z, atan_tail), u.lo));
  return sum(base, tail);
}
// The angle of a point with finite coordinates, in all four quadrants.
MFMASIM_DEVICE double angle_of(pair y, pair x, bool minus_y, bool minus_x) {
  MFMASIM_AS_WRITTEN
  bool steep = y.hi > x.hi || (y.hi == x.hi && y.lo > x.lo);
  pair value = steep ? octant_atan(x, y) : octant_atan(y, x);
  if (steep) value = sum(half_pi, negative(value));
  if (minus_x) value = sum(pi, negative(value));
  double result = collapse(value);
  return minus_y ? -result : result;
}

MFMASIM_ROUTINE double atan2(double y, double x) {
  MFMASIM_AS_WRITTEN
  if (x != x || y != y) return x + y;
  double ay = magnitude(y), ax = magnitude(x);
  bool minus_y = __builtin_signbit(y), minus_x = __builtin_signbit(x);
  if (ay == infinity() || ax == infinity()) {
    // C17, F.10.1.4: infinities stand for a direction of their own.
    ay = ay == infinity() ? 1.0 : 0.0, ax = ax == infinity() ? 1.0 : 0.0;
  }
  if (ay == 0) return __builtin_copysign(minus_x ? pi.hi : 0.0, y);
  if (ax == 0) return __builtin_copysign(half_pi.hi, y);
  int ey, ex;
  double my = __builtin_frexp(ay, &ey), mx = __builtin_frexp(ax, &ex);
  int apart = ey - ex;
  if (apart > 60) return __builtin_copysign(half_pi.hi, y);
  if (apart < -60) {
    if (minus_x) return __builtin_copysign(pi.hi, y);
    return __builtin_copysign(scaled(my / mx, apart), y);
  }
  return angle_of({scaled(my, apart), 0}, {mx, 0}, minus_y, minus_x);
}
MFMASIM_ROUTINE double atan(double x) {
  MFMASIM_AS_WRITTEN
  if (x != x) return x;
  if (magnitude(x) > 0x1p60) return __builtin_copysign(half_pi.hi, x);
  if (magnitude(x) < 0x1p-27) return x;
  return angle_of({magnitude(x), 0}, {1, 0}, __builtin_signbit(x), false);
}
// The other side of a right triangle: sqrt(1 - x^2).
MFMASIM_DEVICE pair other_side(double x) { return root(sum(negative(product(x, x)), 1.0)); }
MFMASIM_ROUTINE double asin(double x) {
  MFMASIM_AS_WRITTEN
  if (!(magnitude(x) <= 1)) return not_a_number();
  if (magnitude(x) < 0x1p-27) return x;
  return angle_of({magnitude(x), 0}, other_side(x), __builtin_signbit(x), false);
}
MFMASIM_ROUTINE double acos(double x) {
  MFMASIM_AS_WRITTEN
  if (!(magnitude(x) <= 1)) return not_a_number();
  if (x == 1) return 0.0;
  return angle_of(other_side(x), {magnitude(x), 0}, false, __builtin_signbit(x));
}

}  // namespace mfmasim
