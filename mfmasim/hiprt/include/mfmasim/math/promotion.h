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
};

}  // namespace mfmasim

#define MFMASIM_PROMOTED(name)                                                                      \
  template <typename T_>                                                                            \
  MFMASIM_MEMBER_DEVICE typename mfmasim::only<__is_integral(T_), double>::type name(T_ x) {        \
    return ::name((double)x);                                                                       \
  }
MFMASIM_PROMOTED(sqrt)
MFMASIM_PROMOTED(exp)
MFMASIM_PROMOTED(exp2)
MFMASIM_PROMOTED(log)
MFMASIM_PROMOTED(log2)
MFMASIM_PROMOTED(log10)
MFMASIM_PROMOTED(sin)
MFMASIM_PROMOTED(cos)
MFMASIM_PROMOTED(tan)
MFMASIM_PROMOTED(tanh)
MFMASIM_PROMOTED(atan)
MFMASIM_PROMOTED(fabs)
MFMASIM_PROMOTED(floor)
MFMASIM_PROMOTED(ceil)
#undef MFMASIM_PROMOTED

// A whole exponent keeps the base's precision.
MFMASIM_DEVICE float pow(float x, int n) { return (float)pow((double)x, (double)n); }
MFMASIM_DEVICE double pow(double x, int n) { return pow(x, (double)n); }
#define MFMASIM_PROMOTED(name)                                                                          \
  template <typename A_, typename B_>                                                                   \
  MFMASIM_MEMBER_DEVICE typename mfmasim::only<mfmasim::mixed<A_, B_>::value, double>::type name(A_ x, B_ y) { \
    return ::name((double)x, (double)y);                                                                \
  }
MFMASIM_PROMOTED(pow)
MFMASIM_PROMOTED(atan2)
MFMASIM_PROMOTED(fmod)
MFMASIM_PROMOTED(fmax)
MFMASIM_PROMOTED(fmin)
#undef MFMASIM_PROMOTED
