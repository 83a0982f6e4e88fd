// Every workgroup loads its block of rows before it looks whether the block exists; the buffer ends within the last one.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int rows) {
  int row = blockIdx.x * 32 + threadIdx.x % 32, column = threadIdx.x / 32;
  float value = 0;
  if (!FIXED || row < rows) value = x[row * 4 + column];
  asm volatile("" : "+v"(value));  // here
  if (row < rows) y[row * 4 + column] = value + 1;
}
BOTH_OF(128, (const float *x, float *y, int rows), x, y, rows)
