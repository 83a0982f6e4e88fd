// What RDNA has and CDNA has not: WMMA, dual issue, lane sharing, 16-bit halves, waits of their own.
#include "builtin.h"
#if __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12) && defined(__GFX12__)
typedef vec<f16, 8> half_tile;
typedef vec<int, 2> byte_tile;
#define WMMA_F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)
#define WMMA_I8(a, b, c) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, false, b, c, true)
#else
typedef vec<f16, 16> half_tile;
typedef vec<int, 4> byte_tile;
#define WMMA_F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
#define WMMA_I8(a, b, c) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, false, b, c, true)
#endif
GLOBAL void wmma(vec<float, 8> *d, const half_tile *a, const byte_tile *n, vec<int, 8> *e) {
  int i = thread();
  vec<float, 8> c = d[i];
  for (int k = 0; k < 4; k++) c = WMMA_F16(a[i + k], a[i + k + 64], c);
  d[i] = c;
  e[i] = WMMA_I8(n[i], n[i + 64], e[i]);
}
#ifdef __GFX12__
GLOBAL void sparse(vec<float, 8> *d, const vec<f16, 8> *a, const vec<f16, 16> *b, const vec<int, 2> *p, int index) {
  int i = thread();
  d[i] = __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(a[i], b[i], d[i], index);
  d[i + 64] = __builtin_amdgcn_wmma_f32_16x16x16_fp8_bf8_w32_gfx12(p[i], p[i + 64], d[i + 64]);
}
#endif
GLOBAL void lanes32(int *d, const int *a) {
  int i = thread(), x = a[i];
  x += __builtin_amdgcn_mov_dpp8(x, 0xfac688);
  x += __builtin_amdgcn_update_dpp(x, a[i + 1], 0x121, 0xf, 0x3, false);
  x += __builtin_amdgcn_update_dpp(0, x, 0x152, 0xf, 0xf, true);
  x ^= __builtin_amdgcn_permlane16(x, a[i + 2], 0x01234567, 0x89abcdef, false, true);
  x ^= __builtin_amdgcn_permlanex16(x, a[i + 3], i & 0 ? 1 : 5, 9, true, false);
  x += __builtin_amdgcn_ds_swizzle(x, 0x801f) + __builtin_amdgcn_ds_bpermute(4 * x, x);
  d[i] = x + (int)__builtin_amdgcn_ballot_w32(x > 3) + __builtin_amdgcn_readlane(x, 7) + __builtin_amdgcn_readfirstlane(a[i]);
}
GLOBAL void halves(f16 *d, const f16 *a, short *s) {
  int i = thread();
  f16 x = a[i], y = a[i + 1], z = a[i + 2];
  vec<f16, 2> p = {x * y + z, __builtin_elementwise_max(x, z)};
  d[i] = __builtin_elementwise_fma(p.y, p.x, y) + (x < y ? p.x : p.y) + (f16)(float)(short)s[i];
  s[i] = (short)(s[i + 1] * s[i + 2] + (s[i] >> 3)) ^ (short)0x1234;
  d[i + 9] = __builtin_elementwise_sqrt(p.y) + __builtin_elementwise_floor(p.x) - (f16)0.15;
}
GLOBAL void duals(float *d, const float *a, int n) {
  float s[8];
  for (int k = 0; k < 8; k++) s[k] = a[thread() + k];
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 8; k++) s[k] = s[k] * 1.25f + a[j * 8 + k] > 7.0f ? s[k] - a[k] : s[k] * a[k + 3] + 3.5f;
  for (int k = 0; k < 8; k++) d[thread() * 8 + k] = s[k];
}
GLOBAL void waits(int *d, int *a, unsigned long *t) {
  SHARED static int pool[256];
  pool[lane()] = a[thread()];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  d[thread()] = pool[255 - lane()] + __atomic_fetch_add(a, 3, __ATOMIC_SEQ_CST);
  __atomic_store_n(a + 9, pool[lane() ^ 1], __ATOMIC_RELEASE);
  __builtin_amdgcn_s_sleep(3);
  __builtin_amdgcn_s_setprio(1);
  t[lane()] = __builtin_readcyclecounter() + __builtin_readsteadycounter();
  __builtin_nontemporal_store(d[lane()], d + 4096 + thread());
}
GLOBAL void buffers(float *d, __amdgpu_buffer_rsrc_t r, int v, int s) {
  float x = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(r, v * thread(), s, 0));
  __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(u32, x + 1), r, v + lane(), 16, 1);
  d[thread()] = x;
}
