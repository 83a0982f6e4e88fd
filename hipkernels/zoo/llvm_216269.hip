// From gfx11 on the offset of a scalar load has to be a multiple of 4: the compiler split an address into two odd parts.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  unsigned value;
  const char *base = (const char *)x - (FIXED ? 0 : 2);
  if (FIXED) asm volatile("s_load_b32 %0, %1, 0x14\n s_waitcnt lgkmcnt(0)" : "=s"(value) : "s"(base) : "memory");
  else asm volatile("s_load_b32 %0, %1, 0x16\n s_waitcnt lgkmcnt(0)" : "=s"(value) : "s"(base) : "memory");  // here
  y[threadIdx.x] = value;
}
BOTH_OF(32, (const unsigned *x, unsigned *y), x, y)
