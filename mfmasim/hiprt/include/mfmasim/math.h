// Floating-point functions: those that clang expands inline stand here, the others in math/, in double precision; single
// precision is the same, rounded once. Accuracy: docs/device-math.md. They may differ in the last bit from ROCm's
// device libraries.
#pragma once

#include <mfmasim/qualifiers.h>

// What <math.h> would define; sources seldom include it, because ROCm's headers bring it along.
#if !defined(INFINITY)
#define INFINITY __builtin_inff()
#endif
#if !defined(NAN)
#define NAN __builtin_nanf("")
#endif

// One row per function of C's library: type, name, and the builtin that clang expands inline. Host code calls the
// host's own, which ROCm's headers declare as well.
#define MFMASIM_UNARY(T, name, builtin) \
  extern "C" T name(T) noexcept;        \
  MFMASIM_DEVICE T name(T x) { return builtin(x); }
#define MFMASIM_BINARY(T, name, builtin) \
  extern "C" T name(T, T) noexcept;      \
  MFMASIM_DEVICE T name(T x, T y) { return builtin(x, y); }

MFMASIM_UNARY(float, fabsf, __builtin_fabsf)
MFMASIM_UNARY(float, sqrtf, __builtin_sqrtf)
MFMASIM_UNARY(float, floorf, __builtin_floorf)
MFMASIM_UNARY(float, ceilf, __builtin_ceilf)
MFMASIM_UNARY(float, truncf, __builtin_truncf)
MFMASIM_UNARY(float, rintf, __builtin_rintf)
MFMASIM_UNARY(float, nearbyintf, __builtin_nearbyintf)
MFMASIM_UNARY(float, roundf, __builtin_roundf)
MFMASIM_UNARY(float, expf, __builtin_expf)
MFMASIM_UNARY(float, exp2f, __builtin_exp2f)
MFMASIM_UNARY(float, logf, __builtin_logf)
MFMASIM_UNARY(float, log2f, __builtin_log2f)
MFMASIM_UNARY(float, log10f, __builtin_log10f)
MFMASIM_BINARY(float, fminf, __builtin_fminf)
MFMASIM_BINARY(float, fmaxf, __builtin_fmaxf)
MFMASIM_BINARY(float, copysignf, __builtin_copysignf)

MFMASIM_UNARY(double, fabs, __builtin_fabs)
MFMASIM_UNARY(double, sqrt, __builtin_sqrt)
MFMASIM_UNARY(double, floor, __builtin_floor)
MFMASIM_UNARY(double, ceil, __builtin_ceil)
MFMASIM_UNARY(double, trunc, __builtin_trunc)
MFMASIM_UNARY(double, rint, __builtin_rint)
MFMASIM_UNARY(double, nearbyint, __builtin_nearbyint)
MFMASIM_UNARY(double, round, __builtin_round)
MFMASIM_BINARY(double, fmin, __builtin_fmin)
MFMASIM_BINARY(double, fmax, __builtin_fmax)
MFMASIM_BINARY(double, copysign, __builtin_copysign)

#undef MFMASIM_UNARY
#undef MFMASIM_BINARY

extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
MFMASIM_DEVICE int abs(int x) { return __builtin_abs(x); }
MFMASIM_DEVICE long labs(long x) { return __builtin_labs(x); }
MFMASIM_DEVICE long long llabs(long long x) { return __builtin_llabs(x); }
MFMASIM_DEVICE long abs(long x) { return __builtin_labs(x); }
MFMASIM_DEVICE long long abs(long long x) { return __builtin_llabs(x); }

// C++ overloads of the double-precision names, and what C's library lacks: in device code only.
#define MFMASIM_UNARY(T, name, builtin) \
  MFMASIM_DEVICE T name(T x) { return builtin(x); }
#define MFMASIM_BINARY(T, name, builtin) \
  MFMASIM_DEVICE T name(T x, T y) { return builtin(x, y); }
MFMASIM_UNARY(float, exp10f, __builtin_exp10f)
MFMASIM_UNARY(float, fabs, __builtin_fabsf)
MFMASIM_UNARY(float, abs, __builtin_fabsf)
MFMASIM_UNARY(double, abs, __builtin_fabs)
MFMASIM_UNARY(float, sqrt, __builtin_sqrtf)
MFMASIM_UNARY(float, floor, __builtin_floorf)
MFMASIM_UNARY(float, ceil, __builtin_ceilf)
MFMASIM_UNARY(float, trunc, __builtin_truncf)
MFMASIM_UNARY(float, rint, __builtin_rintf)
MFMASIM_UNARY(float, round, __builtin_roundf)
MFMASIM_UNARY(float, exp, __builtin_expf)
MFMASIM_UNARY(float, exp2, __builtin_exp2f)
MFMASIM_UNARY(float, log, __builtin_logf)
MFMASIM_UNARY(float, log2, __builtin_log2f)
MFMASIM_UNARY(float, log10, __builtin_log10f)
MFMASIM_BINARY(float, copysign, __builtin_copysignf)
MFMASIM_BINARY(float, fmin, __builtin_fminf)
MFMASIM_BINARY(float, fmax, __builtin_fmaxf)

MFMASIM_HOST_DEVICE float min(float x, float y) { return __builtin_fminf(x, y); }
MFMASIM_HOST_DEVICE float max(float x, float y) { return __builtin_fmaxf(x, y); }
MFMASIM_HOST_DEVICE double min(double x, double y) { return __builtin_fmin(x, y); }
MFMASIM_HOST_DEVICE double max(double x, double y) { return __builtin_fmax(x, y); }

extern "C" float fmaf(float, float, float) noexcept;
extern "C" double fma(double, double, double) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double ldexp(double, int) noexcept;
MFMASIM_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
MFMASIM_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
MFMASIM_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
MFMASIM_DEVICE _Float16 fma(_Float16 x, _Float16 y, _Float16 z) { return __builtin_fmaf16(x, y, z); }
MFMASIM_DEVICE float ldexpf(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
MFMASIM_DEVICE double ldexp(double x, int exponent) { return __builtin_ldexp(x, exponent); }
MFMASIM_DEVICE float ldexp(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
// The instruction takes a denormal for zero, so those are scaled, by an even power of two and exactly.
MFMASIM_DEVICE float rsqrtf(float x) {
  bool denormal = x < 0x1p-126f;
  return __builtin_amdgcn_rsqf(denormal ? x * 0x1p24f : x) * (denormal ? 0x1p12f : 1.0f);
}
MFMASIM_DEVICE float fdividef(float x, float y) { return x / y; }

// <cmath> of the host may turn these names into macros or templates; then its own do.
#if !defined(isnan)
MFMASIM_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
MFMASIM_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
MFMASIM_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
MFMASIM_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
MFMASIM_DEVICE bool isfinite(float x) { return __builtin_isfinite(x); }
MFMASIM_DEVICE bool isfinite(double x) { return __builtin_isfinite(x); }
MFMASIM_DEVICE bool isnormal(float x) { return __builtin_isnormal(x); }
MFMASIM_DEVICE bool isnormal(double x) { return __builtin_isnormal(x); }
MFMASIM_DEVICE bool signbit(float x) { return __builtin_signbit(x); }
MFMASIM_DEVICE bool signbit(double x) { return __builtin_signbit(x); }
// glibc's FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO.
MFMASIM_DEVICE int fpclassify(float x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }
MFMASIM_DEVICE int fpclassify(double x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); }
#define MFMASIM_ORDERED(name)                                                        \
  MFMASIM_DEVICE bool name(float x, float y) { return __builtin_##name(x, y); }       \
  MFMASIM_DEVICE bool name(double x, double y) { return __builtin_##name(x, y); }
MFMASIM_ORDERED(isgreater)
MFMASIM_ORDERED(isgreaterequal)
MFMASIM_ORDERED(isless)
MFMASIM_ORDERED(islessequal)
MFMASIM_ORDERED(islessgreater)
MFMASIM_ORDERED(isunordered)
#undef MFMASIM_ORDERED
#endif

// The C library's names for them.
extern "C" int __finitef(float) noexcept;
extern "C" int __finite(double) noexcept;
extern "C" int __isinff(float) noexcept;
extern "C" int __isinf(double) noexcept;
extern "C" int __isnanf(float) noexcept;
extern "C" int __isnan(double) noexcept;
extern "C" int __signbitf(float) noexcept;
extern "C" int __signbit(double) noexcept;
MFMASIM_DEVICE int __finitef(float x) { return __builtin_isfinite(x); }
MFMASIM_DEVICE int __finite(double x) { return __builtin_isfinite(x); }
MFMASIM_DEVICE int __isinff(float x) { return __builtin_isinf(x); }
MFMASIM_DEVICE int __isinf(double x) { return __builtin_isinf(x); }
MFMASIM_DEVICE int __isnanf(float x) { return __builtin_isnan(x); }
MFMASIM_DEVICE int __isnan(double x) { return __builtin_isnan(x); }
MFMASIM_DEVICE int __signbitf(float x) { return __builtin_signbit(x); }
MFMASIM_DEVICE int __signbit(double x) { return __builtin_signbit(x); }

// Fast intrinsics: the hardware's own approximations.
MFMASIM_DEVICE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 0x1.715476p+0f); }
MFMASIM_DEVICE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 0x1.a934f0p+1f); }
MFMASIM_DEVICE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
MFMASIM_DEVICE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0x1.62e430p-1f; }
MFMASIM_DEVICE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0x1.344136p-2f; }
MFMASIM_DEVICE float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
MFMASIM_DEVICE float __sinf(float x) { return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0x1.45f306p-3f)); }
MFMASIM_DEVICE float __cosf(float x) { return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0x1.45f306p-3f)); }
MFMASIM_DEVICE float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
MFMASIM_DEVICE void __sincosf(float x, float *sine, float *cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
MFMASIM_DEVICE float __fdividef(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
MFMASIM_DEVICE float __saturatef(float x) { return x < 0.0f ? 0.0f : (x > 1.0f ? 1.0f : (x == x ? x : 0.0f)); }

// Rounded to nearest even, without contraction into an fma.
#define MFMASIM_ROUNDED(T, letter, op_name, op)         \
  MFMASIM_DEVICE T __##letter##op_name##_rn(T x, T y) { \
    _Pragma("clang fp contract(off)") return x op y;    \
  }
MFMASIM_ROUNDED(float, f, add, +)
MFMASIM_ROUNDED(float, f, sub, -)
MFMASIM_ROUNDED(float, f, mul, *)
MFMASIM_ROUNDED(float, f, div, /)
MFMASIM_ROUNDED(double, d, add, +)
MFMASIM_ROUNDED(double, d, sub, -)
MFMASIM_ROUNDED(double, d, mul, *)
MFMASIM_ROUNDED(double, d, div, /)
#undef MFMASIM_ROUNDED
MFMASIM_DEVICE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
MFMASIM_DEVICE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
MFMASIM_DEVICE float __frcp_rn(float x) { return 1.0f / x; }
MFMASIM_DEVICE double __drcp_rn(double x) { return 1.0 / x; }
MFMASIM_DEVICE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
MFMASIM_DEVICE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
// The instruction's approximation, as in HIP.
MFMASIM_DEVICE float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
#undef MFMASIM_UNARY
#undef MFMASIM_BINARY

#include <mfmasim/math/functions.h>
#include <mfmasim/math/promotion.h>
