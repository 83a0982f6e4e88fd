// Scales in AITER's order, padded to 8 blocks of K: the kernel reads the padding, which has to be 0 (2^-127), not 127 (1).
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned char *scale, unsigned char *y, int blocks) {
  int row = threadIdx.x / 8, block = threadIdx.x % 8;  // 32 rows, 8 blocks
  int place = ((block % 4 * 16 + row % 16) * 2 + block / 4) * 2 + row / 16;
  y[place] = block < blocks ? scale[row * blocks + block] : FIXED ? 0 : 127;  // here
}
BOTH_OF(256, (const unsigned char *scale, unsigned char *y, int blocks), scale, y, blocks)
