// A wait allows four reads of the LDS in flight where only three younger ones are: the awaited one may be among them.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ __attribute__((aligned(16))) unsigned tile[320];
  unsigned t = threadIdx.x, at = 4 * t, a, b0, b1, b2;
  for (unsigned i = t; i < 320; i += 64) tile[i] = x[i];
  __syncthreads();
#define READS(WAIT)                                                                                                  \
  "ds_read_b32 %0, %4\n ds_read_b32 %1, %4 offset:256\n ds_read_b32 %2, %4 offset:512\n"                             \
  "ds_read_b32 %3, %4 offset:768\n s_waitcnt lgkmcnt(" WAIT ")\n v_add_u32 %0, %0, 1\n s_waitcnt lgkmcnt(0)"
  if (FIXED) asm volatile(READS("3") : "=&v"(a), "=&v"(b0), "=&v"(b1), "=&v"(b2) : "v"(at), "s"(tile) : "memory");
  else asm volatile(READS("4") : "=&v"(a), "=&v"(b0), "=&v"(b1), "=&v"(b2) : "v"(at), "s"(tile) : "memory");  // here
  y[t] = a + b0 + b1 + b2;
}
BOTH_OF(64, (const unsigned *x, unsigned *y), x, y)
