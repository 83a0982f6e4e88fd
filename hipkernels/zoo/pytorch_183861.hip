// Gradients of a norm: the partial sums of a block of 64 columns, of which a wave of 32 stores its own half.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int rows) {
  __shared__ float part[4][64];
  int column = threadIdx.x % 64, group = threadIdx.x / 64, lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
  float sum = 0;
  for (int row = group; row < rows; row += 4) sum += x[64 * row + column];
  part[group][column] = sum;
  __syncthreads();
  int mine = FIXED ? (group == 0 ? column : -1) : (wave == 0 ? lane : -1);
  if (mine >= 0) y[mine] = part[0][mine] + part[1][mine] + part[2][mine] + part[3][mine];  // here
}
BOTH_OF(256, (const float *x, float *y, int rows), x, y, rows)
