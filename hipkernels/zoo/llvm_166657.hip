// A register is spilled where EXEC is 0: the store to scratch does nothing, and the reload gets what was there.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  unsigned value = x[threadIdx.x];
  volatile unsigned spill[2];
  unsigned long long saved;
  if (FIXED) spill[0] = value;
  asm volatile("s_mov_b64 %0, exec\n s_mov_b64 exec, 0" : "=s"(saved)::"memory");
  if (!FIXED) spill[0] = value;
  asm volatile("s_mov_b64 exec, %0" ::"s"(saved) : "memory");
  y[threadIdx.x] = spill[0] + 1;  // here
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
