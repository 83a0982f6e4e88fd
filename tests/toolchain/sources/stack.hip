// An array of each work-item that is indexed at run time, so that it lies in scratch.
#include <hip/hip_runtime.h>

extern "C" __global__ void stack(int* out, int n) {
    const int item = threadIdx.x + 64 * threadIdx.y + 1000 * blockIdx.x + 5000 * blockIdx.y;
    int values[40];
    for (int i = 0; i < 40; ++i) {
        values[i] = item * i;
    }
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += values[(7 * i + item) % 40];
    }
    out[((blockIdx.y * gridDim.x + blockIdx.x) * 4 + threadIdx.y) * 64 + threadIdx.x] = sum;
}
