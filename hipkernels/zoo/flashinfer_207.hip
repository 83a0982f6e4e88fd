// A swizzle of period 8 for 16 rows that are read together: rows 8 apart meet in one bank.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const uint2 *x, uint2 *y) {
  __shared__ uint2 tile[16 * 32];
  unsigned t = threadIdx.x, row = t % 16, column = t / 16, period = FIXED ? 16 : 8;
  for (unsigned i = t; i < 512; i += 64) tile[i / 32 * 32 + (i % 32 ^ i / 32 % period)] = x[i];
  __syncthreads();
  for (unsigned step = 0; step < 8; step++) {
    unsigned at = 4 * step + column;
    y[64 * step + t] = tile[row * 32 + (at ^ row % period)];  // here
  }
}
BOTH_OF(64, (const uint2 *x, uint2 *y), x, y)
