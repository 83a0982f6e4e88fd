// Kernels of the device tests: one for each thing that a launch has to get right.
#include <hip/hip_runtime.h>

extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // blockDim is a hidden argument
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void sizes(int *out) {
    if (threadIdx.x || threadIdx.y || threadIdx.z) return;
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int values[6] = {(int)gridDim.x, (int)gridDim.y, (int)gridDim.z, (int)blockDim.x, (int)blockDim.y, (int)blockDim.z};
    for (int k = 0; k < 6; ++k) out[block * 6 + k] = values[k];
}

extern "C" __global__ void turn(int *data) {
    extern __shared__ int tile[];  // dynamic LDS
    int i = threadIdx.x, n = blockDim.x;
    tile[i] = data[i];
    __syncthreads();
    data[i] = tile[n - 1 - i];
}

struct Pair {
    char tag;
    double scale;
    int *where;
};

extern "C" __global__ void pair(Pair p, double *out) {
    out[threadIdx.x] = p.scale * p.where[threadIdx.x] + p.tag;
}

extern "C" __global__ void gather(int **rows, int *out) { out[threadIdx.x] = rows[threadIdx.x][0]; }

extern "C" __global__ void nothing() {}

extern "C" __global__ void beyond(int *out, int offset) { out[offset] = 7; }

__device__ int counter[4] = {10, 20, 30, 40};

extern "C" __global__ void count(int *out) {
    if (threadIdx.x < 4) out[threadIdx.x] = counter[threadIdx.x]++;
}

extern "C" __global__ void wild(int *address) { address[0] = 1; }

extern "C" __global__ void greet(int n) {
    if (threadIdx.x == 0) printf("greetings to %d\n", n);
}
