// A sum of 64 lanes by DPP: row_bcast:15 and row_bcast:31 complete it in the last lanes only, and all lanes use theirs.
#include "zoo.h"

template <int CONTROL, int ROWS>
__device__ int moved(int v) { return __builtin_amdgcn_update_dpp(0, v, CONTROL, ROWS, 0xf, false); }

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  int sum = x[threadIdx.x];
  sum += moved<0xb1, 0xf>(sum);   // quad_perm:[1,0,3,2]
  sum += moved<0x4e, 0xf>(sum);   // quad_perm:[2,3,0,1]
  sum += moved<0x141, 0xf>(sum);  // row_half_mirror
  sum += moved<0x140, 0xf>(sum);  // row_mirror
  sum += moved<0x142, 0xa>(sum);  // row_bcast:15
  sum += moved<0x143, 0xc>(sum);  // row_bcast:31
  y[threadIdx.x] = FIXED ? __builtin_amdgcn_readlane(sum, 63) : sum;  // here
}
BOTH_OF(64, (const int *x, int *y), x, y)
