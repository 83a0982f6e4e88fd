// gfx1250: slots of the LDS are filled by asynchronous copies in turn; no barrier stands before the refill of one that is read.
#include "zoo.h"

__device__ void copy(unsigned to, const unsigned *from) {
  asm volatile("global_load_async_to_lds_b32 %0, %1, off" ::"v"(to), "v"(from) : "memory");
}

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y, int turns) {
  __shared__ unsigned slot[3][64];
  unsigned t = threadIdx.x, sum = 0;
  for (unsigned i = 0; i < 3; i++) copy(256 * i + 4 * t, x + 64 * i + t);
  for (int turn = 0; turn < turns; turn++) {
    asm volatile("s_wait_asynccnt 0x0" ::"s"(slot) : "memory");
    __syncthreads();
    sum = 3 * sum + slot[turn % 3][t ^ 32];  // here
    if (FIXED) __syncthreads();
    if (turn + 3 < turns) copy(256 * (turn % 3) + 4 * t, x + 64 * (turn + 3) + t);
  }
  y[t] = sum;
}
BOTH_OF(64, (const unsigned *x, unsigned *y, int turns), x, y, turns)
