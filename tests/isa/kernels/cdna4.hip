// What only CDNA4 has: scaled matrix instructions, scaled conversions, transposed reads, lane exchanges.
#include "builtin.h"
GLOBAL void scaled(const vec<int, 8> *a, const vec<int, 8> *b, vec<float, 4> *d, vec<float, 16> *e, const int *s) {
  int i = lane();
  vec<float, 4> c = d[i];
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], c, 0, 0, 0, s[i], 0, s[i + 64]);
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], c, 4, 4, 1, s[i], 2, s[i + 64]);
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], c, 2, 1, 3, s[i], 1, s[i + 64]);
  d[i] = c;
  vec<float, 16> w = e[i];
  w = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a[i], b[i], w, 0, 4, 3, s[i], 3, s[i + 64]);
  w = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a[i], b[i], w, 3, 0, 0, 0x7f7f7f7f, 0, s[i + 64]);
  e[i] = w;
}
GLOBAL void wide_mfma(const vec<f16, 8> *a, const vec<bf16, 8> *b, vec<float, 16> *d, vec<float, 4> *e) {
  int i = lane();
  d[i] = __builtin_amdgcn_mfma_f32_32x32x16_f16(a[i], a[i + 64], d[i], 0, 0, 0);
  d[i] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(b[i], b[i + 64], d[i], 0, 0, 0);
  e[i] = __builtin_amdgcn_mfma_f32_16x16x32_f16(a[i], a[i + 64], e[i], 0, 0, 0);
}
GLOBAL void conversions(vec<int, 4> *d, const float *f, const vec<bf16, 2> *h, float s, int *n) {
  int i = lane();
  vec<short, 2> r = {1, 2};
  r = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(r, f[i], f[i + 1], s, true);
  r = __builtin_amdgcn_cvt_scalef32_pk_bf8_f32(r, f[i], -f[i + 1], s, false);
  n[i] = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(n[i], f[i], f[i + 2], s, 3);
  n[i] += __builtin_amdgcn_cvt_scalef32_pk_fp4_bf16(n[i], h[i], f[i], 1);
  vec<float, 2> p = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(n[i], f[i + 3], 2) + __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(n[i], s, true);
  vec<bf16, 2> q = __builtin_amdgcn_cvt_scalef32_pk_bf16_fp4(n[i], f[i], 1);
  ((vec<float, 2> *)d)[i] = p;
  ((vec<bf16, 2> *)d)[i + 999] = q;
  ((vec<short, 2> *)d)[i + 1999] = r;
  ((vec<bf16, 2> *)d)[i + 555] = __builtin_convertvector(p, vec<bf16, 2>);
}
GLOBAL void lanes(u32 *d) {
  int i = lane();
  vec<u32, 2> x = __builtin_amdgcn_permlane16_swap(d[i], d[i + 64], false, true);
  vec<u32, 2> y = __builtin_amdgcn_permlane32_swap(x.x, x.y, true, false);
  d[i] = (y.x & ~y.y) ^ x.x ^ __builtin_amdgcn_prng_b32(y.y) + __builtin_amdgcn_bitop3_b32(x.x, x.y, y.x, 0x6c);
}
GLOBAL void transposed(vec<short, 4> *d, vec<int, 4> *a) {
  SHARED static vec<int, 4> tile[256];
  int i = lane();
  tile[i] = a[i];
  __builtin_amdgcn_s_barrier();
  d[i] = __builtin_amdgcn_ds_read_tr16_b64_v4i16((vec<short, 4> __attribute__((address_space(3))) *)tile + i);
  ((vec<int, 2> *)d)[i + 99] = __builtin_amdgcn_ds_read_tr8_b64_v2i32((vec<int, 2> __attribute__((address_space(3))) *)tile + i);
  ((vec<int, 2> *)d)[i + 199] = __builtin_amdgcn_ds_read_tr4_b64_v2i32((vec<int, 2> __attribute__((address_space(3))) *)tile + i);
  __builtin_amdgcn_global_load_lds((int __attribute__((address_space(1))) *)a + 4 * i, (int __attribute__((address_space(3))) *)tile, 16, 0, 0);
}
