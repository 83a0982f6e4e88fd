// One wave loads, the other multiplies: the loads' branch has fewer barriers than the epilogue of the other branch.
#include "zoo.h"

#define BARRIER asm volatile("s_wait_dscnt 0x0\n s_wait_storecnt 0x0\n s_barrier_signal -1\n s_barrier_wait -1" ::: "memory")

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned tile[32];
  unsigned t = threadIdx.x % 32, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 32);
  if (wave == 0) tile[t] = x[t];
  BARRIER;
  if (wave == 1) tile[t] = tile[t ^ 1] + 1;
  if (!FIXED && wave == 0) return;  // here
  BARRIER;
  if (wave == 1) y[t] = tile[t ^ 2];
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)  // here
