// The names of C's library and HIP's own, for both precisions, on the functions of this folder.
#pragma once

#include <mfmasim/math/bessel.h>
#include <mfmasim/math/directed.h>
#include <mfmasim/math/error_function.h>
#include <mfmasim/math/exponential.h>
#include <mfmasim/math/gamma.h>
#include <mfmasim/math/hyperbolic.h>
#include <mfmasim/math/inverse_trigonometry.h>
#include <mfmasim/math/logarithm.h>
#include <mfmasim/math/parts.h>
#include <mfmasim/math/power.h>
#include <mfmasim/math/trigonometry.h>

// Whose functions: ours, or those of ROCm's device libraries.
#if defined(MFMASIM_DEVICE_LIBS)
#include <mfmasim/math/ocml.h>
#define MFMASIM_F64(name) __ocml_##name##_f64
#define MFMASIM_F32(name) __ocml_##name##_f32
#else
#define MFMASIM_F64(name) mfmasim::name
#define MFMASIM_F32(name) (float)mfmasim::name
#endif

// What a host has under the same name, so that ours is an overload for the device.
#define MFMASIM_HOSTS_1(name)               \
  extern "C" float name##f(float) noexcept; \
  extern "C" double name(double) noexcept;
#define MFMASIM_HOSTS_2(name)                      \
  extern "C" float name##f(float, float) noexcept; \
  extern "C" double name(double, double) noexcept;

// name(double), namef(float), name(float).
#define MFMASIM_ONE(name)                                                                \
  MFMASIM_DEVICE double name(double x) { return MFMASIM_F64(name)(x); }                      \
  MFMASIM_DEVICE float name##f(float x) { return MFMASIM_F32(name)(x); }      \
  MFMASIM_DEVICE float name(float x) { return name##f(x); }
#define MFMASIM_TWO(name)                                                                                  \
  MFMASIM_DEVICE double name(double x, double y) { return MFMASIM_F64(name)(x, y); }                           \
  MFMASIM_DEVICE float name##f(float x, float y) { return MFMASIM_F32(name)(x, y); }    \
  MFMASIM_DEVICE float name(float x, float y) { return name##f(x, y); }
// The float function is clang's own expansion and stands in math.h.
#define MFMASIM_ONE_DOUBLE(name)         \
  extern "C" double name(double) noexcept; \
  MFMASIM_DEVICE double name(double x) { return MFMASIM_F64(name)(x); }

#define MFMASIM_C_ONE(name) MFMASIM_HOSTS_1(name) MFMASIM_ONE(name)
#define MFMASIM_C_TWO(name) MFMASIM_HOSTS_2(name) MFMASIM_TWO(name)

MFMASIM_ONE_DOUBLE(exp)
MFMASIM_ONE_DOUBLE(exp2)
MFMASIM_ONE_DOUBLE(log)
MFMASIM_ONE_DOUBLE(log2)
MFMASIM_ONE_DOUBLE(log10)
MFMASIM_DEVICE double exp10(double x) { return MFMASIM_F64(exp10)(x); }
MFMASIM_DEVICE float exp10(float x) { return exp10f(x); }
MFMASIM_DEVICE double rsqrt(double x) { return MFMASIM_F64(rsqrt)(x); }
MFMASIM_DEVICE float rsqrt(float x) { return rsqrtf(x); }

MFMASIM_C_ONE(expm1)
MFMASIM_C_ONE(log1p)
MFMASIM_C_ONE(sin)
MFMASIM_C_ONE(cos)
MFMASIM_C_ONE(tan)
MFMASIM_C_ONE(asin)
MFMASIM_C_ONE(acos)
MFMASIM_C_ONE(atan)
MFMASIM_C_ONE(sinh)
MFMASIM_C_ONE(cosh)
MFMASIM_C_ONE(tanh)
MFMASIM_C_ONE(asinh)
MFMASIM_C_ONE(acosh)
MFMASIM_C_ONE(atanh)
MFMASIM_C_ONE(erf)
MFMASIM_C_ONE(erfc)
MFMASIM_C_ONE(tgamma)
MFMASIM_C_ONE(lgamma)
MFMASIM_C_ONE(cbrt)
MFMASIM_C_TWO(pow)
MFMASIM_C_TWO(atan2)
MFMASIM_C_TWO(hypot)
MFMASIM_ONE(sinpi)
MFMASIM_ONE(cospi)
MFMASIM_ONE(erfcx)
MFMASIM_ONE(erfinv)
MFMASIM_ONE(erfcinv)
MFMASIM_ONE(normcdf)
MFMASIM_ONE(normcdfinv)
MFMASIM_ONE(rcbrt)
MFMASIM_TWO(rhypot)

MFMASIM_DEVICE double norm3d(double x, double y, double z) { return MFMASIM_F64(norm3d)(x, y, z); }
MFMASIM_DEVICE double rnorm3d(double x, double y, double z) { return MFMASIM_F64(rnorm3d)(x, y, z); }
MFMASIM_DEVICE double norm4d(double x, double y, double z, double w) { return MFMASIM_F64(norm4d)(x, y, z, w); }
MFMASIM_DEVICE double rnorm4d(double x, double y, double z, double w) { return MFMASIM_F64(rnorm4d)(x, y, z, w); }
MFMASIM_DEVICE float norm3df(float x, float y, float z) { return MFMASIM_F32(norm3d)(x, y, z); }
MFMASIM_DEVICE float rnorm3df(float x, float y, float z) { return MFMASIM_F32(rnorm3d)(x, y, z); }
MFMASIM_DEVICE float norm4df(float x, float y, float z, float w) { return MFMASIM_F32(norm4d)(x, y, z, w); }
MFMASIM_DEVICE float rnorm4df(float x, float y, float z, float w) { return MFMASIM_F32(rnorm4d)(x, y, z, w); }

// Length of a vector of any number of elements.
#define MFMASIM_NORM(T, f)                                  \
  MFMASIM_DEVICE T norm##f(int count, const T *x) {         \
    T sum = 0;                                              \
    for (int i = 0; i < count; ++i) sum += x[i] * x[i];     \
    return __builtin_sqrt##f(sum);                          \
  }                                                         \
  MFMASIM_DEVICE T rnorm##f(int count, const T *x) { return 1 / norm##f(count, x); }
MFMASIM_NORM(float, f)
MFMASIM_NORM(double, )
#undef MFMASIM_NORM

extern "C" void sincosf(float, float *, float *) noexcept;
extern "C" void sincos(double, double *, double *) noexcept;
#define MFMASIM_SINE_AND_COSINE(name, T, f, sine, cosine) \
  MFMASIM_DEVICE void name##f(T x, T *s, T *c) {          \
    *s = sine##f(x);                                      \
    *c = cosine##f(x);                                    \
  }
MFMASIM_SINE_AND_COSINE(sincos, double, , sin, cos)
MFMASIM_SINE_AND_COSINE(sincos, float, f, sin, cos)
MFMASIM_SINE_AND_COSINE(sincospi, double, , sinpi, cospi)
MFMASIM_SINE_AND_COSINE(sincospi, float, f, sinpi, cospi)
#undef MFMASIM_SINE_AND_COSINE

// Exact functions: the same template for both.
#define MFMASIM_EXACT_1(R, name, expression)                \
  extern "C" R name##f(float) noexcept;                     \
  extern "C" R name(double) noexcept;                       \
  MFMASIM_DEVICE R name##f(float x) { return (expression); } \
  MFMASIM_DEVICE R name(double x) { return (expression); }
MFMASIM_EXACT_1(int, ilogb, mfmasim::exponent_of(x))
MFMASIM_EXACT_1(long, lrint, (long)__builtin_rint(x))
MFMASIM_EXACT_1(long, lround, (long)__builtin_round(x))
MFMASIM_EXACT_1(long long, llrint, (long long)__builtin_rint(x))
MFMASIM_EXACT_1(long long, llround, (long long)__builtin_round(x))
MFMASIM_DEVICE int ilogb(float x) { return ilogbf(x); }

#define MFMASIM_EXACT_2(name, expression)                                                     \
  extern "C" float name##f(float, float) noexcept;                                            \
  extern "C" double name(double, double) noexcept;                                            \
  MFMASIM_DEVICE float name##f(float x, float y) { return (expression); }                     \
  MFMASIM_DEVICE double name(double x, double y) { return (expression); }                     \
  MFMASIM_DEVICE float name(float x, float y) { return (expression); }
MFMASIM_EXACT_2(fmod, mfmasim::modulo_of(x, y))
MFMASIM_EXACT_2(nextafter, mfmasim::next_to(x, y))
MFMASIM_EXACT_2(fdim, x != x || y != y ? x + y : x > y ? x - y : 0)

#define MFMASIM_EXACT(T, f)                                                                                  \
  extern "C" T logb##f(T) noexcept;                                                                          \
  extern "C" T remainder##f(T, T) noexcept;                                                                  \
  extern "C" T remquo##f(T, T, int *) noexcept;                                                              \
  extern "C" T modf##f(T, T *) noexcept;                                                                     \
  extern "C" T frexp##f(T, int *) noexcept;                                                                  \
  extern "C" T scalbn##f(T, int) noexcept;                                                                   \
  extern "C" T scalbln##f(T, long) noexcept;                                                                 \
  MFMASIM_DEVICE T logb##f(T x) { return mfmasim::exponent_value(x); }                                       \
  MFMASIM_DEVICE T remquo##f(T x, T y, int *quotient) { return mfmasim::remainder_of(x, y, quotient); }      \
  MFMASIM_DEVICE T remainder##f(T x, T y) {                                                                  \
    int quotient;                                                                                            \
    return mfmasim::remainder_of(x, y, &quotient);                                                           \
  }                                                                                                          \
  MFMASIM_DEVICE T modf##f(T x, T *whole) {                                                                  \
    *whole = __builtin_trunc##f(x);                                                                          \
    return __builtin_copysign##f(__builtin_isinf(x) ? 0 : x - *whole, x);                                    \
  }                                                                                                          \
  MFMASIM_DEVICE T frexp##f(T x, int *exponent) { return __builtin_frexp##f(x, exponent); }                  \
  MFMASIM_DEVICE T scalbn##f(T x, int exponent) { return __builtin_ldexp##f(x, exponent); }                  \
  MFMASIM_DEVICE T scalbln##f(T x, long exponent) {                                                          \
    return __builtin_ldexp##f(x, exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : (int)exponent);         \
  }
MFMASIM_EXACT(float, f)
MFMASIM_EXACT(double, )
MFMASIM_DEVICE float logb(float x) { return logbf(x); }
MFMASIM_DEVICE float remainder(float x, float y) { return remainderf(x, y); }
MFMASIM_DEVICE float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
MFMASIM_DEVICE float modf(float x, float *whole) { return modff(x, whole); }
MFMASIM_DEVICE float frexp(float x, int *exponent) { return frexpf(x, exponent); }
MFMASIM_DEVICE float scalbn(float x, int exponent) { return scalbnf(x, exponent); }
MFMASIM_DEVICE float nanf(const char *) { return __builtin_nanf(""); }
MFMASIM_DEVICE double nan(const char *) { return __builtin_nan(""); }

MFMASIM_C_ONE(j0)
MFMASIM_C_ONE(j1)
MFMASIM_C_ONE(y0)
MFMASIM_C_ONE(y1)
MFMASIM_ONE(cyl_bessel_i0)
MFMASIM_ONE(cyl_bessel_i1)
// ROCm has none for these: its header's recurrence goes upwards whatever the argument.
#define MFMASIM_ORDERED(name)                                                        \
  extern "C" double name(int, double) noexcept;                                      \
  extern "C" float name##f(int, float) noexcept;                                     \
  MFMASIM_DEVICE double name(int n, double x) { return mfmasim::name(n, x); }        \
  MFMASIM_DEVICE float name##f(int n, float x) { return (float)mfmasim::name(n, x); }
MFMASIM_ORDERED(jn)
MFMASIM_ORDERED(yn)
#undef MFMASIM_ORDERED

#undef MFMASIM_F64
#undef MFMASIM_F32
#undef MFMASIM_EXACT
#undef MFMASIM_EXACT_1
#undef MFMASIM_EXACT_2
#undef MFMASIM_C_ONE
#undef MFMASIM_C_TWO
#undef MFMASIM_ONE
#undef MFMASIM_ONE_DOUBLE
#undef MFMASIM_TWO
#undef MFMASIM_HOSTS_1
#undef MFMASIM_HOSTS_2
