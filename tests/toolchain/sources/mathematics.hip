// One kernel per function and precision, elementwise: <name>_f64 and <name>_f32.
#include <hip/hip_runtime.h>

#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define ONE(name)                                                                                    \
  extern "C" __global__ void name##_f64(const double* x, double* out) { out[AT] = name(x[AT]); }     \
  extern "C" __global__ void name##_f32(const float* x, float* out) { out[AT] = name##f(x[AT]); }
#define TWO(name)                                                                                                         \
  extern "C" __global__ void name##_f64(const double* x, const double* y, double* out) { out[AT] = name(x[AT], y[AT]); } \
  extern "C" __global__ void name##_f32(const float* x, const float* y, float* out) { out[AT] = name##f(x[AT], y[AT]); }

#if GROUP == 0
ONE(sin) ONE(cos) ONE(tan) ONE(sinpi) ONE(cospi)
ONE(asin) ONE(acos) ONE(atan) TWO(atan2)
#elif GROUP == 1
ONE(exp) ONE(exp2) ONE(exp10) ONE(expm1)
ONE(log) ONE(log2) ONE(log10) ONE(log1p)
TWO(pow) ONE(cbrt) ONE(rcbrt) TWO(hypot) TWO(rhypot) ONE(rsqrt) ONE(sqrt)
extern "C" __global__ void norm3d_f64(const double* x, double* out) { out[AT] = norm3d(x[AT], x[AT] * 0.5, x[AT] + 1.0); }
extern "C" __global__ void norm4d_f64(const double* x, double* out) { out[AT] = norm4d(x[AT], 3.0, 0.25, x[AT]); }
#elif GROUP == 2
ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh)
ONE(erf) ONE(erfc) ONE(erfcx) ONE(erfinv) ONE(erfcinv) ONE(normcdf) ONE(normcdfinv)
ONE(tgamma) ONE(lgamma)
#elif GROUP == 4
ONE(j0) ONE(j1) ONE(y0) ONE(y1) ONE(cyl_bessel_i0) ONE(cyl_bessel_i1)
#define ORDERED(name)                                                                                                       \
  extern "C" __global__ void name##_f64(const int* n, const double* x, double* out) { out[AT] = name(n[AT], x[AT]); }       \
  extern "C" __global__ void name##_f32(const int* n, const float* x, float* out) { out[AT] = name##f(n[AT], x[AT]); }
ORDERED(jn) ORDERED(yn)
#else
TWO(fmod) TWO(remainder) TWO(nextafter) TWO(fdim) TWO(fmin) TWO(fmax)
ONE(logb) ONE(trunc) ONE(rint) ONE(round)
#define PARTS(T, f, size)                                                                           \
  extern "C" __global__ void remquo_##size(const T* x, const T* y, int* out) {                      \
    remquo##f(x[AT], y[AT], &out[AT]);                                                              \
  }                                                                                                 \
  extern "C" __global__ void modf_##size(const T* x, T* out) {                                      \
    T whole, fraction = modf##f(x[AT], &whole);                                                     \
    out[2 * AT] = whole;                                                                            \
    out[2 * AT + 1] = fraction;                                                                     \
  }                                                                                                 \
  extern "C" __global__ void frexp_##size(const T* x, T* out, int* exponent) {                      \
    out[AT] = frexp##f(x[AT], &exponent[AT]);                                                       \
  }                                                                                                 \
  extern "C" __global__ void scalbln_##size(const T* x, const int* n, T* out) {                     \
    out[AT] = scalbln##f(x[AT], (long)n[AT]);                                                       \
  }                                                                                                 \
  extern "C" __global__ void ilogb_##size(const T* x, int* out) { out[AT] = ilogb##f(x[AT]); }       \
  extern "C" __global__ void classes_##size(const T* x, int* out) {                                 \
    T value = x[AT];                                                                                \
    out[AT] = isnan(value) | isinf(value) << 1 | isfinite(value) << 2 | signbit(value) << 3;        \
  }
PARTS(double, , f64)
PARTS(float, f, f32)
#endif
