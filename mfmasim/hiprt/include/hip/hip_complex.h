// hipFloatComplex and hipDoubleComplex: pairs (real, imaginary) and the functions of C's <complex.h> that HIP has.
#pragma once

#include <hip/hip_runtime.h>

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

#define MFMASIM_COMPLEX(T, C, f)                                                                          \
  MFMASIM_HOST_DEVICE T hipCreal##f(C z) { return z.x; }                                                  \
  MFMASIM_HOST_DEVICE T hipCimag##f(C z) { return z.y; }                                                  \
  MFMASIM_HOST_DEVICE C hipConj##f(C z) { return C(z.x, -z.y); }                                          \
  MFMASIM_HOST_DEVICE T hipCsqabs##f(C z) { return z.x * z.x + z.y * z.y; }                               \
  MFMASIM_HOST_DEVICE C hipCadd##f(C p, C q) { return C(p.x + q.x, p.y + q.y); }                          \
  MFMASIM_HOST_DEVICE C hipCsub##f(C p, C q) { return C(p.x - q.x, p.y - q.y); }                          \
  MFMASIM_HOST_DEVICE C hipCmul##f(C p, C q) { return C(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y); }  \
  MFMASIM_HOST_DEVICE C hipCdiv##f(C p, C q) {                                                            \
    T square = hipCsqabs##f(q);                                                                           \
    return C((p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square);                         \
  }                                                                                                       \
  MFMASIM_HOST_DEVICE T hipCabs##f(C z) { return __builtin_sqrt##f(hipCsqabs##f(z)); }
MFMASIM_COMPLEX(float, hipFloatComplex, f)
MFMASIM_COMPLEX(double, hipDoubleComplex, )
#undef MFMASIM_COMPLEX

MFMASIM_HOST_DEVICE hipFloatComplex make_hipFloatComplex(float x, float y) { return hipFloatComplex(x, y); }
MFMASIM_HOST_DEVICE hipDoubleComplex make_hipDoubleComplex(double x, double y) { return hipDoubleComplex(x, y); }
MFMASIM_HOST_DEVICE hipComplex make_hipComplex(float x, float y) { return hipComplex(x, y); }
MFMASIM_HOST_DEVICE hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
  return hipFloatComplex((float)z.x, (float)z.y);
}
MFMASIM_HOST_DEVICE hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return hipDoubleComplex(z.x, z.y); }
MFMASIM_HOST_DEVICE hipComplex hipCfmaf(hipComplex p, hipComplex q, hipComplex r) {
  return hipComplex(p.x * q.x + r.x - p.y * q.y, q.x * p.y + r.y + p.x * q.y);
}
MFMASIM_HOST_DEVICE hipDoubleComplex hipCfma(hipDoubleComplex p, hipDoubleComplex q, hipDoubleComplex r) {
  return hipDoubleComplex(p.x * q.x + r.x - p.y * q.y, q.x * p.y + r.y + p.x * q.y);
}
