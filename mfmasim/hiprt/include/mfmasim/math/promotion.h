// Integer arguments of floating-point functions count as double, as C++ says ([cmath.syn]); of two different types, too.
#pragma once

#include <mfmasim/math/functions.h>

namespace mfmasim {

template <bool, typename T_>
struct only {};
template <typename T_>
struct only<true, T_> {
  typedef T_ type;
};
template <typename A_, typename B_>
struct mixed {
  static constexpr bool numbers = __is_arithmetic(A_) && __is_arithmetic(B_);
  static constexpr bool value = numbers && (__is_integral(A_) || __is_integral(B_) || sizeof(A_) != sizeof(B_));
  static constexpr bool floating = value && !(__is_integral(A_) && __is_integral(B_));
};

}  // namespace mfmasim

#define MFMASIM_PROMOTED(R, name)                                                         \
  template <typename T_>                                                                 \
  MFMASIM_MEMBER_DEVICE typename mfmasim::only<__is_integral(T_), R>::type name(T_ x) { \
    return ::name((double)x);                                                            \
  }
MFMASIM_PROMOTED(double, acos)
MFMASIM_PROMOTED(double, acosh)
MFMASIM_PROMOTED(double, asin)
MFMASIM_PROMOTED(double, asinh)
MFMASIM_PROMOTED(double, atan)
MFMASIM_PROMOTED(double, atanh)
MFMASIM_PROMOTED(double, cbrt)
MFMASIM_PROMOTED(double, ceil)
MFMASIM_PROMOTED(double, cos)
MFMASIM_PROMOTED(double, cosh)
MFMASIM_PROMOTED(double, erf)
MFMASIM_PROMOTED(double, erfc)
MFMASIM_PROMOTED(double, exp)
MFMASIM_PROMOTED(double, exp2)
MFMASIM_PROMOTED(double, expm1)
MFMASIM_PROMOTED(double, fabs)
MFMASIM_PROMOTED(double, floor)
MFMASIM_PROMOTED(double, lgamma)
MFMASIM_PROMOTED(double, log)
MFMASIM_PROMOTED(double, log10)
MFMASIM_PROMOTED(double, log1p)
MFMASIM_PROMOTED(double, log2)
MFMASIM_PROMOTED(double, logb)
MFMASIM_PROMOTED(double, nearbyint)
MFMASIM_PROMOTED(double, rint)
MFMASIM_PROMOTED(double, round)
MFMASIM_PROMOTED(double, sin)
MFMASIM_PROMOTED(double, sinh)
MFMASIM_PROMOTED(double, sqrt)
MFMASIM_PROMOTED(double, tan)
MFMASIM_PROMOTED(double, tanh)
MFMASIM_PROMOTED(double, tgamma)
MFMASIM_PROMOTED(double, trunc)
MFMASIM_PROMOTED(long, lrint)
MFMASIM_PROMOTED(long, lround)
MFMASIM_PROMOTED(long long, llrint)
MFMASIM_PROMOTED(long long, llround)
MFMASIM_PROMOTED(int, ilogb)
#if !defined(isnan)
MFMASIM_PROMOTED(bool, isfinite)
MFMASIM_PROMOTED(bool, isinf)
MFMASIM_PROMOTED(bool, isnan)
MFMASIM_PROMOTED(bool, isnormal)
MFMASIM_PROMOTED(bool, signbit)
MFMASIM_PROMOTED(int, fpclassify)
#endif
#undef MFMASIM_PROMOTED

// A whole exponent keeps the base's precision.
MFMASIM_DEVICE float pow(float x, int n) { return (float)pow((double)x, (double)n); }
MFMASIM_DEVICE double pow(double x, int n) { return pow(x, (double)n); }
MFMASIM_DEVICE _Float16 pow(_Float16 x, int n) { return (_Float16)pow((float)x, n); }
MFMASIM_DEVICE float powif(float x, int n) { return pow(x, n); }
MFMASIM_DEVICE double powi(double x, int n) { return pow(x, n); }
#define MFMASIM_PROMOTED(R, name)                                                                         \
  template <typename A_, typename B_>                                                                     \
  MFMASIM_MEMBER_DEVICE typename mfmasim::only<mfmasim::mixed<A_, B_>::value, R>::type name(A_ x, B_ y) { \
    return ::name((double)x, (double)y);                                                                  \
  }
MFMASIM_PROMOTED(double, atan2)
MFMASIM_PROMOTED(double, copysign)
MFMASIM_PROMOTED(double, fdim)
MFMASIM_PROMOTED(double, fmax)
MFMASIM_PROMOTED(double, fmin)
MFMASIM_PROMOTED(double, fmod)
MFMASIM_PROMOTED(double, hypot)
MFMASIM_PROMOTED(double, nextafter)
MFMASIM_PROMOTED(double, pow)
MFMASIM_PROMOTED(double, remainder)
#if !defined(isnan)
MFMASIM_PROMOTED(bool, isgreater)
MFMASIM_PROMOTED(bool, isgreaterequal)
MFMASIM_PROMOTED(bool, isless)
MFMASIM_PROMOTED(bool, islessequal)
MFMASIM_PROMOTED(bool, islessgreater)
MFMASIM_PROMOTED(bool, isunordered)
#endif
#undef MFMASIM_PROMOTED
// Of integers these stay integers; other types than C's own need an order.
#define MFMASIM_PROMOTED(name, op)                                                                                \
  template <typename A_, typename B_>                                                                             \
  MFMASIM_MEMBER_DEVICE typename mfmasim::only<mfmasim::mixed<A_, B_>::floating, double>::type name(A_ x, B_ y) { \
    return ::name((double)x, (double)y);                                                                          \
  }                                                                                                               \
  template <typename T_>                                                                                          \
  MFMASIM_MEMBER_DEVICE T_ name(T_ x, T_ y) {                                                                     \
    return x op y ? x : y;                                                                                        \
  }
MFMASIM_PROMOTED(min, <)
MFMASIM_PROMOTED(max, >)
#undef MFMASIM_PROMOTED
#define MFMASIM_PROMOTED(name, Second)                                                                     \
  template <typename T_>                                                                                   \
  MFMASIM_MEMBER_DEVICE typename mfmasim::only<__is_integral(T_), double>::type name(T_ x, Second second) { \
    return ::name((double)x, second);                                                                      \
  }
MFMASIM_PROMOTED(frexp, int *)
MFMASIM_PROMOTED(ldexp, int)
MFMASIM_PROMOTED(modf, double *)
MFMASIM_PROMOTED(scalbln, long)
MFMASIM_PROMOTED(scalbn, int)
#undef MFMASIM_PROMOTED
template <typename A_, typename B_>
MFMASIM_MEMBER_DEVICE typename mfmasim::only<mfmasim::mixed<A_, B_>::value, double>::type remquo(A_ x, B_ y, int *quotient) {
  return ::remquo((double)x, (double)y, quotient);
}
template <typename A_, typename B_, typename C_>
MFMASIM_MEMBER_DEVICE
    typename mfmasim::only<mfmasim::mixed<A_, B_>::value || mfmasim::mixed<B_, C_>::value, double>::type
    fma(A_ x, B_ y, C_ z) {
  return ::fma((double)x, (double)y, (double)z);
}
