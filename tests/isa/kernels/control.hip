// Control flow: divergence, loops, switch, calls, recursion, function pointers, a stack.
#include "builtin.h"
#ifdef __GFX9__
#define TIME() __builtin_amdgcn_s_memtime()
#else
#define TIME() __builtin_readsteadycounter()
#endif
DEVICE NOINLINE int twice(int x) { return x * 2 + (x >> 3); }
DEVICE NOINLINE int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
DEVICE NOINLINE float many(float a, float b, double c, long e, int f, vec<int, 4> g) { return a * b + c * e + f + g.x - g.w; }
GLOBAL void divergent(int *d, const int *a, int n) {
  int i = thread();
  if (i >= n) return;
  int x = a[i], s = 0;
  while (x > 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    if (++s > 1000) break;
    if (s % 7 == 3) continue;
    s += x & 1;
  }
  switch (x & 15) {
    case 0: s += 5; break;
    case 1: s ^= 77; break;
    case 2: s = d[i + 1]; break;
    case 3: s *= s; break;
    case 5: s = __builtin_popcount(s);
    case 6: s -= 9; break;
    case 9: for (int k = 0; k < n; ++k) s += a[k] * s; break;
    default: s = ~s;
  }
  d[i] = s;
}
GLOBAL void calls(int *d, const int *a, float *f) {
  int i = thread();
  d[i] = twice(a[i]) + ackermann(a[i] & 3, 2);
  f[i] = many(f[i], f[i + 1], f[i], a[i], i, *(const vec<int, 4> *)(a + 4 * i));
}
typedef int (*function)(int);
GLOBAL void pointers(int *d, function *table, int n) {
  int i = thread();
  d[i] = table[d[i] & 3](i);
  for (int k = 0; k < n; ++k) d[i] += table[k](k);
}
GLOBAL void stack(int *d, const int *a, int n) {
  int i = thread(), local[40];
  for (int k = 0; k < 40; ++k) local[k] = a[k * i];
  for (int k = 0; k < n; ++k) local[a[k] % 40] += local[a[k + 1] % 40] * k;
  short small[9];
  for (int k = 0; k < 9; ++k) small[k] = a[k];
  d[i] = local[d[i] % 40] + small[a[i] % 9];
  if (d[i] == 12345) __builtin_trap();
}
GLOBAL void uniform(int *d, const int *a, int n, long m, u64 q) {
  int s = 0;
  for (int k = 0; k < n; ++k) {
    s += a[k] * n + (a[k] < 5 ? 7 : -3) + __builtin_popcountl(q) + (a[k] & 0xff00) + (n >> 3) - __builtin_clzl(m | 1);
    m = m * 5 + (q >> 7) + (m < 0 ? -1 : m << 3);
    q ^= m | (q & ~(u64)n);
    s = s > n ? s - n : s + (n ^ (int)q);
    s += __builtin_bitreverse32(s) + (short)n + (signed char)n + __builtin_ctz(n | 8) + (int)(((u64)(u32)n * (u32)s) >> 32);
    if (m == (long)q || s != 0x12345678) s += (n >> 4) & 0x7f;
    s = s < -5 ? -s : s;
  }
  d[block()] = s + (int)m + (int)q + (TIME() & 7) + (int)__builtin_readcyclecounter();
  __builtin_amdgcn_s_sleep(3);
  __builtin_amdgcn_s_setprio(2);
  __builtin_amdgcn_s_sendmsg(1, n);
  d[block() + 1] = __builtin_amdgcn_s_getreg(0x1881);
  __builtin_amdgcn_s_setreg(0x801, 3);
  __builtin_amdgcn_s_setreg(0x801, n);
}
