// Paged keys: the table of blocks is read one block ahead, behind its last entry.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *table, const float *keys, float *y, int blocks) {
  float sum = 0;
  int next = table[0];
  for (int i = 0; i < blocks; i++) {
    int now = next;
    if (!FIXED || i + 1 < blocks) next = *(volatile const int *)(table + i + 1);  // here
    sum += keys[64 * now + threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
BOTH_OF(64, (const int *table, const float *keys, float *y, int blocks), table, keys, y, blocks)
