// Partial sums of a dot product that do not fit in the registers the kernel is allowed: each goes to scratch and back.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int turns) {
  float sums[48];
  for (int i = 0; i < 48; i++) sums[i] = 0;
  for (int turn = 0; turn < turns; turn++)
    for (int i = 0; i < 48; i++) sums[i] += x[turn * 48 + i] * (float)threadIdx.x;  // here
  float sum = 0;
  for (int i = 0; i < 48; i++) sum = sum * 0.5f + sums[i];
  y[threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(32) __attribute__((amdgpu_num_vgpr(24))) before(const float *x, float *y, int turns) { entry<false>(x, y, turns); }
extern "C" __global__ void __launch_bounds__(32) after(const float *x, float *y, int turns) { entry<true>(x, y, turns); }
