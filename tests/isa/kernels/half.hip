// 16-bit and 8-bit floats: scalar, packed, dot products, conversions.
#include "builtin.h"
GLOBAL void half_scalar(f16 *d, const f16 *a, const float *w) {
  int i = thread();
  f16 x = a[i], y = a[i + 1], z = a[i + 2];
  f16 r = x * y + z - x / y + (f16)w[i] + (f16)(x < y ? 1.0f16 : -0.5f16) + (f16)i;
  r += __builtin_elementwise_sqrt(x) + __builtin_elementwise_floor(y) + __builtin_elementwise_fma(x, y, z);
  r += __builtin_elementwise_max(x, y) + __builtin_elementwise_min(y, z) + (f16)(short)x + __builtin_amdgcn_rcph(x);
  r += __builtin_amdgcn_sinh(x) + __builtin_amdgcn_fracth(x) + __builtin_amdgcn_ldexph(x, i) + __builtin_amdgcn_fmed3h(x, y, z);
  d[i] = r * (f16)2.0;
  ((float *)d)[i + 99] = (float)x + (float)y * (float)z + w[i];
}
GLOBAL void half_packed(vec<f16, 2> *d, const vec<f16, 2> *a, vec<short, 2> *n, float *f) {
  int i = thread();
  vec<f16, 2> x = a[i], y = a[i + 1], z = a[i + 2];
  vec<f16, 2> r = x * y + z;
  r += __builtin_elementwise_max(x, -y) - __builtin_elementwise_min(y.yx, z);
  r = __builtin_elementwise_fma(x.xx, y.yy, r) * (f16)2.0;
  d[i] = r;
  vec<short, 2> p = n[i], q = n[i + 1];
  n[i] = p * q + (p << q) - (p >> (short)3) + __builtin_elementwise_max(p, q) + __builtin_elementwise_min(p, q.yx);
#ifdef __GFX9__
  f[i] = __builtin_amdgcn_fdot2(x, y, f[i], false) + __builtin_amdgcn_sdot2(p, q, i, true) +
         __builtin_amdgcn_sdot4(i, 3 * i, i, false) + __builtin_amdgcn_udot4(i, 7 * i, i, true) + __builtin_amdgcn_sdot8(i, 5 * i, i, false);
#else
  f[i] = __builtin_amdgcn_fdot2(x, y, f[i], false) + __builtin_amdgcn_sudot4(true, i, false, 3 * i, i, false) +
         __builtin_amdgcn_udot4(i, 7 * i, i, true) + __builtin_amdgcn_sudot8(true, i, true, 5 * i, i, true);
#endif
  d[i + 7] = __builtin_bit_cast(vec<f16, 2>, __builtin_amdgcn_cvt_pkrtz(f[i], f[i + 1]));
  n[i + 7] = __builtin_amdgcn_cvt_pk_i16(i, p.x) + __builtin_amdgcn_cvt_pknorm_i16(f[i], f[i + 2]);
}
GLOBAL void bf16_scalar(bf16 *d, const bf16 *a, const float *w) {
  int i = thread();
  d[i] = (bf16)((float)a[i] * (float)a[i + 1] + w[i]);
}
#ifndef __GFX11__
GLOBAL void fp8_conversions(int *d, const float *a, const int *p) {
  int i = thread();
  int r = __builtin_amdgcn_cvt_pk_fp8_f32(a[i], a[i + 1], d[i], false);
  r = __builtin_amdgcn_cvt_pk_fp8_f32(a[i + 2], -a[i + 1], r, true);
  r += __builtin_amdgcn_cvt_pk_bf8_f32(a[i], a[i + 1], r, true);
  r = __builtin_amdgcn_cvt_sr_fp8_f32(a[i], p[i + 1], r, 2);
  r += __builtin_amdgcn_cvt_sr_bf8_f32(a[i], p[i], r, 3);
  d[i] = r;
  float f = __builtin_amdgcn_cvt_f32_fp8(p[i], 0) + __builtin_amdgcn_cvt_f32_fp8(p[i], 2) + __builtin_amdgcn_cvt_f32_bf8(p[i], 3);
  vec<float, 2> v = __builtin_amdgcn_cvt_pk_f32_fp8(p[i], true) + __builtin_amdgcn_cvt_pk_f32_bf8(p[i], false);
  ((float *)d)[i + 999] = f + v.x * v.y;
}
#endif
GLOBAL void packed_f32(vec<float, 2> *d, const vec<float, 2> *a) {
  int i = thread();
  vec<float, 2> x = a[i], y = a[i + 1];
  d[i] = x * y + x.yx - y * 0.5f + __builtin_elementwise_fma(x, -y, y);
}
