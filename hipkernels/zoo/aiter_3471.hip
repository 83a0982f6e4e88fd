// A tile of 32 rows and 384 columns is stored whole, although the matrix has fewer columns left.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int rows, int columns) {
  int row = blockIdx.y, column = blockIdx.x * 384 + threadIdx.x;
  float value = column < columns ? 2 * x[row * columns + column] : 0;
  if (!FIXED || column < columns) y[row * columns + column] = value;  // here
}
BOTH_OF(384, (const float *x, float *y, int rows, int columns), x, y, rows, columns)
