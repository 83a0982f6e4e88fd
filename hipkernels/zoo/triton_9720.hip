// A pipeline of four stages over three buffers: a copy fills the buffer that the slower wave still reads.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y, int turns) {
  __shared__ unsigned buffers[4][64];
  const int count = FIXED ? 4 : 3;
  unsigned t = threadIdx.x, sum = 0;
  for (int stage = 0; stage < 3; stage++) buffers[stage][t] = x[64 * stage + t];
  for (int turn = 0; turn < turns; turn++) {
    __syncthreads();
    sum = 3 * sum + buffers[turn % count][t ^ 32];
    if (turn + 3 < turns) buffers[(turn + 3) % count][t] = x[64 * (turn + 3) + t];  // here
  }
  y[t] = sum;
}
BOTH_OF(64, (const unsigned *x, unsigned *y, int turns), x, y, turns)
