// Radix select: all threads read the counts out of shared memory, then two words of it are cleared for the next search.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  __shared__ int memory[64];
  unsigned t = threadIdx.x;
  if (t < 4) memory[t] = 0;
  __syncthreads();
  atomicAdd(&memory[x[t] & 3], 1);
  __syncthreads();
  int counts = 0;
  for (int i = 0; i < 4; i++) counts += memory[i] << (8 * i);
  if (FIXED) __syncthreads();
  if (t < 2) memory[t] = 0;  // here
  __syncthreads();
  if (x[t] == counts) memory[0] = 1;
  __syncthreads();
  y[t] = counts + memory[0];
}
BOTH_OF(128, (const int *x, int *y), x, y)
