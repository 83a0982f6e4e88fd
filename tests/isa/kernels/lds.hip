// LDS: every width, pairs, strides, atomics, barriers.
#include "builtin.h"
template <class T> DEVICE void exchange(T *d, const T *a) {
  SHARED static T tile[272];
  int i = lane();
  tile[i] = a[i];
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  d[i] = tile[i ^ 1] + tile[(i + 17) & 255];
}
GLOBAL void lds_u8(u8 *d, const u8 *a) { exchange(d, a); }
GLOBAL void lds_i8(signed char *d, const signed char *a) { exchange(d, a); }
GLOBAL void lds_i16(short *d, const short *a) { exchange(d, a); }
GLOBAL void lds_f16(f16 *d, const f16 *a) { exchange(d, a); }
GLOBAL void lds_f32(float *d, const float *a) { exchange(d, a); }
GLOBAL void lds_f64(double *d, const double *a) { exchange(d, a); }
GLOBAL void lds_x2(vec<int, 2> *d, const vec<int, 2> *a) { exchange(d, a); }
GLOBAL void lds_x3(vec<int, 3> *d, const vec<int, 3> *a) { exchange(d, a); }
GLOBAL void lds_x4(vec<float, 4> *d, const vec<float, 4> *a) { exchange(d, a); }
GLOBAL void lds_transpose(float *d, const float *a) {
  SHARED static float tile[33 * 32];
  for (int k = 0; k < 4; ++k) tile[33 * (lane() / 32 + 8 * k) + lane() % 32] = a[lane() + 256 * k];
  __builtin_amdgcn_s_barrier();
  for (int k = 0; k < 4; ++k) d[lane() + 256 * k] = tile[33 * (lane() % 32) + lane() / 32 + 8 * k];
}
GLOBAL void lds_atomics(int *d, const int *a, float *f, double *g, u64 *w) {
  SHARED static int count[64];
  SHARED static float sum[64];
  SHARED static double wide[64];
  SHARED static u64 longs[64];
  int i = lane() & 63;
  __atomic_fetch_add(&count[i], a[i], __ATOMIC_RELAXED);
  d[i] = __atomic_fetch_sub(&count[i], a[i], __ATOMIC_RELAXED) + __atomic_fetch_or(&count[i], 5, __ATOMIC_SEQ_CST);
  d[i] += __atomic_fetch_xor(&count[i], 9, __ATOMIC_ACQUIRE) + __atomic_exchange_n(&count[i], 4, __ATOMIC_RELEASE);
  d[i] += __atomic_fetch_max(&count[i], a[i], __ATOMIC_RELAXED) + __atomic_fetch_min((u32 *)&count[i], 3u, __ATOMIC_RELAXED);
  int expected = 3;
  d[i] += __atomic_compare_exchange_n(&count[i], &expected, 8, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  w[i] = __atomic_fetch_add(&longs[i], w[i + 1], __ATOMIC_RELAXED) + __atomic_fetch_and(&longs[i], 77ul, __ATOMIC_RELAXED);
  f[i] = __atomic_fetch_add(&sum[i], f[i + 1], __ATOMIC_RELAXED);
  g[i] = __atomic_fetch_add(&wide[i], g[i + 1], __ATOMIC_RELAXED);
}
