// Cross-lane operations: DPP, permutes, swizzles, broadcasts, ballots.
#include "builtin.h"
#define DPP(x, control) __builtin_amdgcn_update_dpp(0, x, control, 0xf, 0xf, true)
#define KEEP(old, x, control, rows) __builtin_amdgcn_update_dpp(old, x, control, rows, 0xf, false)
GLOBAL void dpp(int *d, const int *a, float *f) {
  int i = thread(), x = a[i];
  x += DPP(x, 0x1b) + DPP(x, 0xb1) + DPP(x, 0x4e) + DPP(x, 0x101) + DPP(x, 0x118) + DPP(x, 0x121) + DPP(x, 0x140) + DPP(x, 0x141);
#ifdef __GFX9__
  x ^= KEEP(x, a[i + 1], 0x142, 0xa) | KEEP(x, a[i + 2], 0x143, 0xc) | KEEP(x, a[i], 0x130, 0xf) | KEEP(x, a[i], 0x138, 0xf);
  x -= KEEP(x, a[i + 3], 0x155, 0xf) + KEEP(x, x, 0x134, 0xf) + KEEP(0, x, 0x13c, 0xf);
#endif
  float y = f[i];
  for (int s = 0; s < 4; ++s) y += __builtin_bit_cast(float, DPP(__builtin_bit_cast(int, y), 0x111)) * 3.0f;
  d[i] = x;
  f[i] = y;
}
GLOBAL void lanes(int *d, const int *a, int n) {
  int i = thread(), x = a[i];
  x += __builtin_amdgcn_readfirstlane(x) + __builtin_amdgcn_readlane(x, 5) + __builtin_amdgcn_readlane(x, n);
  x += __builtin_amdgcn_ds_bpermute(4 * (i ^ 3), x) + __builtin_amdgcn_ds_permute(4 * i, x);
  x += __builtin_amdgcn_ds_swizzle(x, 0x041f) + __builtin_amdgcn_ds_swizzle(x, 0x80b1) + __builtin_amdgcn_ds_swizzle(x, 0x7c1f) +
       __builtin_amdgcn_ds_swizzle(x, 0x0018) + __builtin_amdgcn_ds_swizzle(x, 0x2228);
  x += __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  u64 votes = __builtin_amdgcn_ballot_w64(x > n);
  x += __builtin_popcountl(votes) + (int)__builtin_amdgcn_uicmp(x, n, 33) + (votes >> (i & 63) & 1) + __builtin_ctzl(votes | 1);
  d[i] = x + (int)__builtin_amdgcn_read_exec();
}
