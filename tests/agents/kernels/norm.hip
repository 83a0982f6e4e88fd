// y[r] = x[r] / sqrt(mean(x[r]^2) + eps) * w, minus the row's largest value of that; one workgroup for a row.
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void norm(const float* __restrict__ x, const float* __restrict__ w,
                                                       float* __restrict__ y, int n, float eps) {
    __shared__ float of_wave[4];
    const int tid = threadIdx.x;
    const int wave = tid / 64;
    const float* in = x + blockIdx.x * n;
    float squares = 0;
    for (int i = tid; i < n; i += 256) squares += in[i] * in[i];
    for (int far = 32; far > 0; far /= 2) squares += __shfl_xor(squares, far);
    if (tid % 64 == 0) of_wave[wave] = squares;
    __syncthreads();
    squares = of_wave[0] + of_wave[1] + of_wave[2] + of_wave[3];
    __syncthreads();
    const float scale = 1.0f / sqrtf(squares / n + eps);
    float largest = -INFINITY;
    for (int i = tid; i < n; i += 256) largest = fmaxf(largest, in[i] * scale * w[i]);
    for (int far = 32; far > 0; far /= 2) largest = fmaxf(largest, __shfl_xor(largest, far));
    if (tid % 64 == 0) of_wave[wave] = largest;
    __syncthreads();
    largest = fmaxf(fmaxf(of_wave[0], of_wave[1]), fmaxf(of_wave[2], of_wave[3]));
    for (int i = tid; i < n; i += 256) y[blockIdx.x * n + i] = in[i] * scale * w[i] - largest;
}
