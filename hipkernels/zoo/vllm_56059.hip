// A ring of tail blocks is indexed with the number of a block of the main cache: the store is far behind its end.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *slot, const float *x, float *tail, int pool, int blocks) {
  int block = slot[blockIdx.x] / pool;
  if (FIXED && block >= blocks) return;
  tail[block * 64 + threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];  // here
}
BOTH_OF(64, (const int *slot, const float *x, float *tail, int pool, int blocks), slot, x, tail, pool, blocks)
