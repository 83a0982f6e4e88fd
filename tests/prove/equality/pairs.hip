// Pairs of kernels: NAME_a and NAME_b do the same, and are written in different ways.
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL copy_a(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < n) o[i] = x[i]; }
KERNEL copy_b(float *o, const float *x, const float *y, int n) {
    __shared__ float s[256];
    int i = THREAD;
    s[threadIdx.x ^ 7] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) o[i] = s[threadIdx.x ^ 7];
}

KERNEL axpy_a(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < n) o[i] = __builtin_fmaf(2.5f, x[i], y[i]); }
KERNEL axpy_b(float *o, const float *x, const float *y, int n) {
    for (int i = THREAD; i < n; i += blockDim.x * gridDim.x) o[i] = __builtin_fmaf(2.5f, x[i], y[i]);
}

KERNEL relu_a(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < n) o[i] = fmaxf(x[i], 0.0f); }
KERNEL relu_b(float *o, const float *x, const float *y, int n) {
    int i = n - 1 - (int)THREAD;
    if (i >= 0) o[i] = fmaxf(x[i], 0.0f);
}

KERNEL divide_a(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < n) o[i] = x[i] / y[i]; }
KERNEL divide_b(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i < n) { float2 both = {x[i], y[i]}; o[i] = both.x / both.y; }
}

KERNEL swish_a(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i < n) o[i] = x[i] / (1.0f + __expf(-x[i]));
}
KERNEL swish_b(float *o, const float *x, const float *y, int n) {
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        o[i] = v / (1.0f + __expf(-v));
    }
}

KERNEL transpose_a(float *o, const float *x, const float *y, int n) {
    int i = THREAD, row = i / 16, col = i % 16;
    if (i < 256) o[col * 16 + row] = x[row * 16 + col];
}
KERNEL transpose_b(float *o, const float *x, const float *y, int n) {
    __shared__ float s[16][17];
    int i = THREAD, row = i / 16, col = i % 16;
    if (i < 256) s[row][col] = x[i];
    __syncthreads();
    if (i < 256) o[i] = s[col][row];
}

KERNEL dot_a(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i >= 16) return;
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) sum = __builtin_fmaf(x[16 * i + k], y[k], sum);
    o[i] = sum;
}
KERNEL dot_b(float *o, const float *x, const float *y, int n) {  // another order of the additions
    int i = THREAD;
    if (i >= 16) return;
    float even = 0.0f, odd = 0.0f;
    for (int k = 0; k < 16; k += 2) {
        even = __builtin_fmaf(x[16 * i + k], y[k], even);
        odd = __builtin_fmaf(x[16 * i + k + 1], y[k + 1], odd);
    }
    o[i] = even + odd;
}

KERNEL reduce_a(float *o, const float *x, const float *y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int step = 128; step; step /= 2) {
        __syncthreads();
        if (t < step) s[t] += s[t + step];
    }
    __syncthreads();
    if (!t) o[blockIdx.x] = s[0];
}
KERNEL reduce_b(float *o, const float *x, const float *y, int n) {
    __shared__ float s[256];
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 256; k++) sum += x[k];
        o[blockIdx.x] = sum;
    }
}

KERNEL halves_a(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    const _Float16 *h = (const _Float16 *)x;
    if (i < n) o[i] = (float)h[2 * i] * (float)h[2 * i + 1];
}
KERNEL halves_b(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    unsigned both = ((const unsigned *)x)[i];
    unsigned short low = both, high = both >> 16;
    o[i] = (float)__builtin_bit_cast(_Float16, low) * (float)__builtin_bit_cast(_Float16, high);
}

KERNEL bytes_a(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i < n) ((unsigned *)o)[i] = __builtin_bswap32(((const unsigned *)x)[i]);
}
KERNEL bytes_b(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    const unsigned char *b = (const unsigned char *)x + 4 * i;
    ((unsigned *)o)[i] = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

KERNEL shuffle_a(float *o, const float *x, const float *y, int n) { int i = THREAD; if (i < 256) o[i] = x[i ^ 5] + y[i]; }
KERNEL shuffle_b(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    float v = i < 256 ? x[i] : 0.0f;
    v = __shfl_xor(v, 5);
    if (i < 256) o[i] = v + y[i];
}

KERNEL clamp_a(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i < n) { float v = x[i]; o[i] = v > y[i] ? y[i] : v; }
}
KERNEL clamp_b(float *o, const float *x, const float *y, int n) {
    int i = THREAD;
    if (i >= n) return;
    float v = x[i], w = y[i];
    o[i] = v > w ? w : v;
}
