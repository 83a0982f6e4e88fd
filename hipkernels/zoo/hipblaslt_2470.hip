// Stream K: the number of a partial tile is counted from the kernel's first iteration, not from the stream-K part's.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *partials, float *y, int iteration, int tiles, int per_tile) {
  int first = FIXED ? iteration - tiles * per_tile : tiles * per_tile - iteration;
  int tile = first / per_tile;
  float sum = 0;
  for (int split = 0; split < 2; split++) sum += partials[(2 * tile + split) * 64 + (int)threadIdx.x];  // here
  y[threadIdx.x] = sum;
}
BOTH_OF(64, (const float *partials, float *y, int iteration, int tiles, int per_tile), partials, y, iteration, tiles, per_tile)
