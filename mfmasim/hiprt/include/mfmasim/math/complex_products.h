// Products and quotients of complex numbers, which the compiler calls by these names (C, annex G): an infinite argument
// has an infinite product although a part of it would be NaN.
#pragma once

#include <mfmasim/math.h>

namespace mfmasim {

// 1 or 0 with the number's sign: a direction of an infinite number.
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ direction(T_ x) {
  return copysign((T_)(__builtin_isinf(x) ? 1 : 0), x);
}
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ zero_for_nan(T_ x) {
  return x == x ? x : copysign((T_)0, x);
}

// (a + bi) * (c + di) in x and y.
template <typename T_>
MFMASIM_MEMBER_DEVICE void complex_product(T_ a, T_ b, T_ c, T_ d, T_ &x, T_ &y) {
  T_ ac = a * c, bd = b * d, ad = a * d, bc = b * c;
  x = ac - bd, y = ad + bc;
  if (x == x || y == y) return;
  bool first = __builtin_isinf(a) || __builtin_isinf(b), second = __builtin_isinf(c) || __builtin_isinf(d);
  bool parts = __builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad) || __builtin_isinf(bc);
  if (!first && !second && !parts) return;
  if (first) a = direction(a), b = direction(b), c = zero_for_nan(c), d = zero_for_nan(d);
  if (second) a = zero_for_nan(a), b = zero_for_nan(b), c = direction(c), d = direction(d);
  if (!first && !second) a = zero_for_nan(a), b = zero_for_nan(b), c = zero_for_nan(c), d = zero_for_nan(d);
  x = (T_)__builtin_inf() * (a * c - b * d), y = (T_)__builtin_inf() * (a * d + b * c);
}

// (a + bi) / (c + di); the divisor is scaled to a magnitude of about one, so that its square neither overflows nor vanishes.
template <typename T_>
MFMASIM_MEMBER_DEVICE void complex_quotient(T_ a, T_ b, T_ c, T_ d, T_ &x, T_ &y) {
  T_ larger = fmax(fabs(c), fabs(d));
  int scale = larger != 0 && __builtin_isfinite(larger) ? -ilogb(larger) : 0;
  c = ldexp(c, scale), d = ldexp(d, scale);
  T_ square = c * c + d * d;
  x = ldexp((a * c + b * d) / square, scale), y = ldexp((b * c - a * d) / square, scale);
  if (x == x || y == y) return;
  if (square == 0 && (a == a || b == b)) {
    T_ infinite = copysign((T_)__builtin_inf(), c);
    x = infinite * a, y = infinite * b;
  } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(larger)) {
    a = direction(a), b = direction(b);
    x = (T_)__builtin_inf() * (a * c + b * d), y = (T_)__builtin_inf() * (b * c - a * d);
  } else if (__builtin_isinf(larger) && __builtin_isfinite(a) && __builtin_isfinite(b)) {
    c = direction(c), d = direction(d);
    x = 0 * (a * c + b * d), y = 0 * (b * c - a * d);
  }
}

}  // namespace mfmasim

#define MFMASIM_COMPLEX(name, T, operation)                                                         \
  extern "C" __device__ inline __attribute__((nodebug)) _Complex T name(T a, T b, T c, T d) { \
    T x, y;                                                                                         \
    _Complex T result;                                                                              \
    mfmasim::operation(a, b, c, d, x, y);                                                           \
    __real__(result) = x;                                                                           \
    __imag__(result) = y;                                                                           \
    return result;                                                                                  \
  }
MFMASIM_COMPLEX(__mulsc3, float, complex_product)
MFMASIM_COMPLEX(__muldc3, double, complex_product)
MFMASIM_COMPLEX(__divsc3, float, complex_quotient)
MFMASIM_COMPLEX(__divdc3, double, complex_quotient)
#undef MFMASIM_COMPLEX
