// Global, flat, scratch and buffer memory: widths, signs, cache bits, atomics, fences, direct-to-LDS.
#include "builtin.h"
template <class T> DEVICE void copy(T *d, const T *a) { d[thread()] = a[thread() + 3]; d[lane() + 1] = __builtin_nontemporal_load(a + lane()); }
GLOBAL void copy_u8(u8 *d, const u8 *a) { copy(d, a); }
GLOBAL void copy_i8(int *d, const signed char *a) { d[lane()] = a[lane()] + a[lane() + 4097]; }
GLOBAL void copy_i16(int *d, const short *a) { d[lane()] = a[lane()] - a[lane() + 99]; }
GLOBAL void copy_u16(u16 *d, const u16 *a) { copy(d, a); }
GLOBAL void copy_b32(int *d, const int *a) { copy(d, a); }
GLOBAL void copy_b64(long *d, const long *a) { copy(d, a); }
GLOBAL void copy_b96(vec<int, 3> *d, const vec<int, 3> *a) { copy(d, a); }
GLOBAL void copy_b128(vec<int, 4> *d, const vec<int, 4> *a) { copy(d, a); }
GLOBAL void halves(vec<short, 2> *d, const short *a, short *s) {
  int i = lane();
  vec<short, 2> p = {a[i], a[i + 64]};
  d[i] = p + (short)1;
  s[i] = d[i + 5].y;
  ((u8 *)s)[2 * i] = d[i + 6].y;
}
GLOBAL void flat(int **d, int *const *a) { *d[lane()] = *a[lane()]; *(long *)d[lane() + 1] = *(long *)a[lane() + 2]; }
GLOBAL void constants(int *d, const int __attribute__((address_space(4))) * a, int n) {
  vec<int, 16> x = *(const vec<int, 16> __attribute__((address_space(4))) *)a;
  vec<int, 8> y = *(const vec<int, 8> __attribute__((address_space(4))) *)(a + 16 + n);
  d[lane()] = x.s0 + x.sf + y.s3 + a[n];
}
GLOBAL void atomics(int *d, u32 *u, u64 *w, float *f, double *g, vec<f16, 2> *h) {
  int i = lane(), r = 0;
  r += __atomic_fetch_add(d + i, 3, __ATOMIC_RELAXED) + __atomic_fetch_sub(d + i, 3, __ATOMIC_ACQ_REL);
  r += __atomic_fetch_and(d + i, 3, __ATOMIC_RELAXED) + __atomic_fetch_or(d + i, 3, __ATOMIC_SEQ_CST);
  r += __atomic_fetch_xor(d + i, 3, __ATOMIC_RELAXED) + __atomic_exchange_n(d + i, 3, __ATOMIC_RELAXED);
  r += __atomic_fetch_max(d + i, 3, __ATOMIC_RELAXED) + __atomic_fetch_min(u + i, 3u, __ATOMIC_RELAXED);
  int expected = 7;
  r += __atomic_compare_exchange_n(d + i, &expected, r, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  __atomic_fetch_add(w + i, r, __ATOMIC_RELAXED);
  u64 wide = 9;
  r += __atomic_compare_exchange_n(w + i, &wide, 5ul, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  r += __atomic_fetch_max(w + i, 5ul, __ATOMIC_RELAXED) + __atomic_fetch_min((long *)w + i, 5l, __ATOMIC_RELAXED);
  r += __builtin_amdgcn_atomic_inc32(u + i, 9u, __ATOMIC_RELAXED, "agent") + __builtin_amdgcn_atomic_dec32(u, 9u, __ATOMIC_RELAXED, "agent");
  d[99] = r;
#ifdef __GFX9__
  d[99] = r + __builtin_amdgcn_global_atomic_fadd_f64((double __attribute__((address_space(1))) *)g + i, 1.5) +
          __builtin_amdgcn_global_atomic_fadd_f32((float __attribute__((address_space(1))) *)f + i, 2.5f);
  __builtin_amdgcn_global_atomic_fadd_v2f16((vec<f16, 2> __attribute__((address_space(1))) *)h + i, h[i + 1]);
#endif
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  d[100] = *(volatile int *)(d + 101);
  __builtin_nontemporal_store(r, d + 102);
}
GLOBAL void buffers(float *d, int n, int bytes) {
  __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(d, 0, bytes, 0x27000);
  int i = lane();
  float x = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(r, 4 * i, n, 0));
  x += __builtin_amdgcn_raw_buffer_load_b8(r, i, 0, 0) + __builtin_amdgcn_raw_buffer_load_b16(r, 2 * i + 8, 0, 1);
  vec<u32, 4> v = __builtin_amdgcn_raw_buffer_load_b128(r, 16 * i + 4000, n, 0);
  vec<u32, 2> w = __builtin_amdgcn_raw_buffer_load_b64(r, 0, 48, 3);
  __builtin_amdgcn_raw_buffer_store_b128(v, r, 16 * i, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b64(w, r, 8 * i, n, 0);
  __builtin_amdgcn_raw_buffer_store_b8((u8)x, r, i, n, 0);
  __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(u32, x), r, 4 * i + 128, 0, 0);
}
#ifdef __GFX9__
GLOBAL void direct(int *a, int *d) {
  SHARED static int tile[256];
  __builtin_amdgcn_global_load_lds((int __attribute__((address_space(1))) *)a + lane(), (int __attribute__((address_space(3))) *)tile, 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0x3f70);
  __builtin_amdgcn_s_barrier();
  d[lane()] = tile[255 - lane()];
}
#endif
