// The slot of a token is computed from the table of blocks, where the layout is another: its slots are in a table of their own.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *blocks, const int *slots, const float *cache, float *y) {
  int token = blockIdx.x, slot = FIXED ? slots[token] : blocks[token / 4] * 4 + token % 4;
  y[32 * token + threadIdx.x] = cache[32 * slot + threadIdx.x];  // here
}
BOTH_OF(32, (const int *blocks, const int *slots, const float *cache, float *y), blocks, slots, cache, y)
