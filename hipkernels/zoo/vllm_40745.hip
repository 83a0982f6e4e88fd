// Each lane loads an eighth of a head of 128 numbers; a head of 64 has eight of them, and the other lanes read on.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *query, float *y, int chunks) {
  unsigned chunk = threadIdx.x / 4;
  f16x8 part = {};
  if (!FIXED || chunk < chunks) part = *(const f16x8 *)(query + 8 * (blockIdx.x * chunks + chunk));  // here
  asm volatile("" : "+v"(part));  // here
  if (chunk < chunks) y[blockIdx.x * 32 + threadIdx.x] = (float)part[threadIdx.x % 4] + (float)part[4 + threadIdx.x % 4];
}
BOTH_OF(64, (const _Float16 *query, float *y, int chunks), query, y, chunks)
