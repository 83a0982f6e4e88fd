// Comparisons of every type and kind, their masks and selections.
#include "builtin.h"
template <class T> DEVICE int all(T a, T b, T c) {
  int r = 0;
  if (a == b) r += 3;
  if (a != c) r ^= 5;
  if (a < b) r -= 7;
  if (b <= c) r *= 9;
  if (a > c) r |= 11;
  if (b >= a) r += 13;
  r += (a < b && b < c) ? 1 : 2;
  r += (a == c || !(b > c)) ? r : -r;
  return r;
}
template <class T> DEVICE void run(int *d, const T *a) { int i = thread(); d[i] = all<T>(a[i], a[i + 1], a[7 * i]); }
GLOBAL void compare_i16(int *d, const short *a) { run(d, a); }
GLOBAL void compare_u16(int *d, const u16 *a) { run(d, a); }
GLOBAL void compare_i32(int *d, const int *a) { run(d, a); }
GLOBAL void compare_u32(int *d, const u32 *a) { run(d, a); }
GLOBAL void compare_i64(int *d, const long *a) { run(d, a); }
GLOBAL void compare_u64(int *d, const u64 *a) { run(d, a); }
GLOBAL void compare_f16(int *d, const f16 *a) { run(d, a); }
GLOBAL void compare_f32(int *d, const float *a) { run(d, a); }
GLOBAL void compare_f64(int *d, const double *a) { run(d, a); }
GLOBAL void classes(int *d, const float *a, const double *b) {
  int i = thread();
  d[i] = __builtin_isnan(a[i]) + 2 * __builtin_isinf(b[i]) + 4 * __builtin_amdgcn_classf(a[i], 0x1f8) + 8 * __builtin_amdgcn_class(b[i], 3);
  d[i] += __builtin_isunordered(a[i], a[i + 1]) + !__builtin_isgreater(a[i], 2.0f) + !(a[i] <= a[i + 2]) + (b[i] == -4.0) + (b[i] < 3.0);
  d[i] += (a[i] < 0 ? -1.0f : a[i]) > 0.15915494f;
}
