// The slot of each token: the table of blocks is narrower than the sequence, and the load is not masked.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *table, int *slots, int tokens, int block_size, int width) {
  int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  int block = token / block_size;
  bool inside = !FIXED || block < width;
  slots[token] = inside ? table[block] * block_size + token % block_size : -1;  // here
}
BOTH((const int *table, int *slots, int tokens, int block_size, int width), table, slots, tokens, block_size, width)
