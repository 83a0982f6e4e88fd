// A pipeline that loads the next tile of K before it computes, in the last turn, too.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int tiles) {
  int t = threadIdx.x;
  float next = x[t], sum = 0;
  for (int tile = 0; tile < tiles; tile++) {
    float now = next;
    if (!FIXED || tile + 1 < tiles) next = *(volatile const float *)(x + 32 * (tile + 1) + t);  // here
    sum += now;
  }
  y[t] = sum;
}
BOTH_OF(32, (const float *x, float *y, int tiles), x, y, tiles)
