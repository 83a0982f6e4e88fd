// Floating-point arithmetic: divisions, roots, roundings, conversions, in f32 and f64.
#include "builtin.h"
template <class T> DEVICE T body(T a, T b, T c) {
  T r = __builtin_fma(a, b, c) + a / b - a * -b + __builtin_fabs(c) * (T)0.5;
  r += __builtin_floor(a) - __builtin_ceil(b) + __builtin_trunc(c) + __builtin_rint(a * (T)4.0);
  r += a < b ? -a : __builtin_fmax(a, c) + __builtin_fmin(-b, c);
  r += (T)(int)a + (T)(u32)b + (T)(long)c;
  return r * (T)2.0 + (T)1.25;
}
GLOBAL void maths_f32(float *d, const float *a, const float *b) {
  int i = thread();
  float x = a[i], y = b[i];
  float r = body<float>(x, y, x + y);
  r += __builtin_sqrtf(x) + __builtin_amdgcn_rcpf(y) + __builtin_amdgcn_rsqf(x) + __builtin_amdgcn_sinf(x) +
       __builtin_amdgcn_cosf(y) + __builtin_amdgcn_fractf(x) + __builtin_amdgcn_logf(x) + __builtin_amdgcn_exp2f(y);
  r += __builtin_amdgcn_frexp_mantf(x) + __builtin_amdgcn_frexp_expf(y) + __builtin_amdgcn_ldexpf(x, i);
  r += __builtin_amdgcn_fmed3f(x, y, 3.0f) + __builtin_amdgcn_cubeid(x, y, r) + __builtin_amdgcn_cubema(x, y, r);
  r += __builtin_amdgcn_cubesc(x, y, r) + __builtin_amdgcn_cubetc(x, y, r);
  d[i] = __builtin_amdgcn_fmed3f(r, 0.0f, 1.0f);
}
GLOBAL void maths_f64(double *d, const double *a, const double *b) {
  int i = thread();
  double x = a[i], y = b[i];
  double r = body<double>(x, y, x * 0.15915494309189532);
  r += __builtin_sqrt(x) + __builtin_amdgcn_rcp(y) + __builtin_amdgcn_rsq(x) + __builtin_amdgcn_fract(y);
  r += __builtin_amdgcn_frexp_mant(x) + __builtin_amdgcn_frexp_exp(y) + __builtin_amdgcn_ldexp(x, i);
  r += __builtin_amdgcn_trig_preop(x, i);
  d[i] = r * 1.0e300 - 3.0;
}
GLOBAL void conversions(int *d, const float *a, const double *b, const long *c) {
  int i = thread();
  d[4 * i] = (int)a[i] + (u8)a[i] + (int)b[i] + (short)b[i];
  ((float *)d)[4 * i + 1] = (float)c[i] + (float)(u64)c[i] + (float)b[i] + ((u8 *)c)[i];
  ((double *)d)[2 * i + 1] = (double)c[i] + (double)(u64)(c[i] >> 3) + (double)a[i];
  d[4 * i] += __builtin_amdgcn_cvt_pk_u8_f32(a[i], 2, d[i]);
}
