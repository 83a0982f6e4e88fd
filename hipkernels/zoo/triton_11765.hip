// Ping-pong: a group of waves passes a bare s_barrier with its LDS reads in flight, and the other group refills the slot.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {
  __shared__ unsigned slot[128];
  unsigned t = threadIdx.x, old, at = 4 * (t ^ 64);
  slot[t] = x[t];
  __syncthreads();
  asm volatile("ds_read_b32 %0, %1" : "=v"(old) : "v"(at) : "memory");
  if (FIXED) asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
  asm volatile("s_barrier" ::: "memory");
  asm volatile("ds_write_b32 %0, %1" ::"v"(4 * t), "v"(x[128 + t]) : "memory");  // here
  asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" : "+v"(old)::"memory");
  y[t] = old + slot[t ^ 64];
}
BOTH_OF(128, (const unsigned *x, unsigned *y), x, y)
