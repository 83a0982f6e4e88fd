#include <hip/hip_runtime.h>

// y = factor * x, through the LDS, a block of 64 at a time.
extern "C" __global__ void scale(const float *x, float *y, float factor, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = factor * tile[threadIdx.x];
}
