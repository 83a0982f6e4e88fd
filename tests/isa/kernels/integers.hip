// Integer arithmetic and bit operations in 16, 32 and 64 bits.
#include "builtin.h"
template <class T> DEVICE T mix(T a, T b, T c) {
  T r = a * b + c - (a ^ b) + (a & ~c) + (b | c) + (~(a ^ c)) + (T)(a >> (b & 7)) + (T)(c << (a & 7));
  r += a > b ? (a < c ? a : c) : b;
  r += (a > b ? a : b) - (b < c ? b : c);
  return r;
}
template <class T> DEVICE void run(T *d, const T *a) {
  int i = thread();
  T x = a[i], y = a[i + 1], z = a[i + 2];
  d[i] = mix<T>(x, y, z) + x / (y | 1) + z % (x | 3) + (T)12345;
}
GLOBAL void int_i16(short *d, const short *a) { run(d, a); }
GLOBAL void int_u16(u16 *d, const u16 *a) { run(d, a); }
GLOBAL void int_i32(int *d, const int *a) { run(d, a); }
GLOBAL void int_u32(u32 *d, const u32 *a) { run(d, a); }
GLOBAL void int_i64(long *d, const long *a) { run(d, a); }
GLOBAL void int_u64(u64 *d, const u64 *a) { run(d, a); }
GLOBAL void bits(u32 *d, const u32 *a, const u64 *w) {
  int i = thread();
  u32 x = a[i], y = a[i + 1], r = __builtin_popcount(x) + __builtin_clz(x | 1) + __builtin_ctz(y | 8);
  r += __builtin_bitreverse32(x) + __builtin_bswap32(y) + __builtin_popcountl(w[i]) + __builtin_clzl(w[i] | 1);
  r += __builtin_amdgcn_ubfe(x, 3, y) + __builtin_amdgcn_sbfe(x, y, 5) + __builtin_amdgcn_alignbit(x, y, r);
  r += __builtin_amdgcn_alignbyte(x, y, 3) + __builtin_amdgcn_perm(x, y, 0x01060302) + __builtin_amdgcn_lerp(x, y, r);
  r += __builtin_amdgcn_sad_u8(x, y, r) + __builtin_amdgcn_sad_u16(x, y, r) + __builtin_amdgcn_msad_u8(x, y, r);
  r += __builtin_amdgcn_sad_hi_u8(x, y, r) + (u32)__builtin_amdgcn_qsad_pk_u16_u8(w[i], x, w[i + 1]);
  r += (u32)__builtin_amdgcn_mqsad_pk_u16_u8(w[i], y, w[i + 1]);
  r += (x << 3) + y + ((x & y) | r) + ((x << 5) | y) + (x ^ y) + (x + (y << 2));
  r += __builtin_addc(x, y, r & 1, &r) + (u32)(((u64)x * y) >> 32) + (u32)(((long)(int)x * (int)y) >> 32);
  r += (x & 0xffffff) * (y & 0xffffff) + (r & 0xffff) * 77;
  d[i] = __builtin_rotateleft32(r, x & 31) + (r > 5 && x < 9 ? 1 : 0);
}
