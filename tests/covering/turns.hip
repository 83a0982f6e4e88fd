// Kernels whose fault (BUG=N) shows only in a second or third turn, or on the other way of a branch.
#include <hip/hip_runtime.h>
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
#ifndef BUG
#define BUG 0
#endif
// 1: tiled row sum through the LDS: the barrier after the reads is missing (second turn)
extern "C" __global__ __launch_bounds__(256) void tiles(const float* x, float* y, int n) {
    __shared__ float t[256];
    float s = 0;
    for (int i = 0; i < n; i += 256) {
        t[threadIdx.x] = x[(size_t)blockIdx.x * n + i + threadIdx.x];
        __syncthreads();
        s += t[255 - threadIdx.x];
#if BUG != 1
        __syncthreads();
#endif
    }
    y[blockIdx.x * 256 + threadIdx.x] = s;
}
// 2: double buffer; the third turn meets the first buffer again while it is read
extern "C" __global__ __launch_bounds__(256) void twobuf(const float* x, float* y, int n) {
    __shared__ float t[2][256];
    float s = 0;
    int b = 0;
    for (int i = 0; i < n; i += 256, b ^= 1) {
        t[b][threadIdx.x] = x[i + threadIdx.x];
#if BUG != 2
        __syncthreads();
#else
        if (i < 512) __syncthreads();
#endif
        s += t[b][255 - threadIdx.x];
    }
    y[threadIdx.x] = s;
}
// 3: tail: the remainder reads one element beyond
extern "C" __global__ void tail(const float* x, float* y, int n) {
    float s = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4) s += x[i] + x[i + 1] + x[i + 2] + x[i + 3];
    if (i < n) {
#if BUG == 3
        for (; i <= n; ++i) s += x[i];
#else
        for (; i < n; ++i) s += x[i];
#endif
    }
    if (threadIdx.x == 0) y[0] = s;
}
// 4: grid-stride loop whose second turn takes the wrong stride
extern "C" __global__ __launch_bounds__(64) void stride(const float* x, float* y, int n) {
    int step = gridDim.x * 64;
    for (int i = blockIdx.x * 64 + threadIdx.x, k = 0; i < n; i += step, ++k) {
#if BUG == 4
        y[i] = x[i] * (k ? 3 : 2);
#else
        y[i] = x[i] * 2;
#endif
    }
}
// 5: branch on a flag of the contract: the other way writes out of bounds
extern "C" __global__ void flag(const float* x, float* y, int n, int mode) {
    int i = threadIdx.x;
    if (mode == 1) y[i] = x[i];
#if BUG == 5
    else y[i + 1] = x[i];
#else
    else y[i] = 2 * x[i];
#endif
}
// 6: uninitialised accumulator where the loop does not run (k = 0 admitted)
extern "C" __global__ void zero(const float* x, float* y, int k) {
    __shared__ float t[64];
#if BUG != 6
    t[threadIdx.x] = 0;
#endif
    for (int i = 0; i < k; ++i) t[threadIdx.x] = (i ? t[threadIdx.x] : 0) + x[i * 64 + threadIdx.x];
    y[threadIdx.x] = t[threadIdx.x];
}
// 7: MFMA GEMM: K offset of the third step is wrong
extern "C" __global__ __launch_bounds__(64) void mm(const _Float16* a, const _Float16* b, float* c, int m, int n, int k) {
    const int lane = threadIdx.x, r = lane & 15, g = lane >> 4;
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
    f32x4 acc = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
#if BUG == 7
        int kb = k0 == 32 ? 16 : k0;
#else
        int kb = k0;
#endif
        f16x4 fa = *(const f16x4*)(a + (size_t)(row0 + r) * k + kb + g * 4);
        f16x4 fb = *(const f16x4*)(b + (size_t)(col0 + r) * k + k0 + g * 4);
        acc = __builtin_amdgcn_mfma_f32_16x16x16f16(fa, fb, acc, 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i) c[(size_t)(row0 + g * 4 + i) * n + col0 + r] = acc[i];
}
// 8: several workgroups split a row; the loop over tiles of a persistent workgroup: LDS race between tiles
extern "C" __global__ __launch_bounds__(256) void persist(const float* x, float* y, int tiles) {
    __shared__ float t[256];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        t[threadIdx.x] = x[tile * 256 + threadIdx.x];
        __syncthreads();
        y[tile * 256 + threadIdx.x] = t[threadIdx.x ^ 255];
#if BUG != 8
        __syncthreads();
#endif
    }
}
// 9: of a partial workgroup some places of the LDS are never written, and read
extern "C" __global__ __launch_bounds__(128) void ragged(const float* x, float* y, int n) {
    __shared__ float t[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    if (blockIdx.x * 128 + 128 <= n) {
        t[threadIdx.x] = x[i];
    } else {
#if BUG == 9
        if (i < n) t[threadIdx.x] = x[i];
#else
        t[threadIdx.x] = i < n ? x[i] : 0;
#endif
    }
    __syncthreads();
    y[i] = t[127 - threadIdx.x];
}
// 10: beta = 0 way: forgets alpha
extern "C" __global__ __launch_bounds__(64) void axpy(const float* x, float* y, int n, float alpha, float beta) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    if (beta == 0.0f)
#if BUG == 10
        y[i] = x[i];
#else
        y[i] = alpha * x[i];
#endif
    else y[i] = alpha * x[i] + beta * y[i];
}
// 11: nested loops: the inner accumulates across outer turns (second outer turn)
extern "C" __global__ void nested(const float* x, float* y, int rows, int cols) {
    float s = 0;
    for (int r = 0; r < rows; ++r) {
#if BUG != 11
        s = 0;
#endif
        for (int c = 0; c < cols; ++c) s += x[(r * cols + c) * 64 + threadIdx.x];
        y[r * 64 + threadIdx.x] = s;
    }
}
// 12: last partial tile is loaded twice in the third turn: OOB read beyond x
extern "C" __global__ void ahead(const float* x, float* y, int n) {
    float s = 0, next = x[threadIdx.x];
    for (int i = 0; i < n; i += 64) {
        float now = next;
#if BUG == 12
        if (i >= 64) next = x[i + 64 + threadIdx.x];
#endif
#if BUG != 12
        if (i + 64 < n) next = x[i + 64 + threadIdx.x];
#else
        else if (i + 64 < n) next = x[i + 64 + threadIdx.x];
#endif
        s += now;
    }
    y[threadIdx.x] = s;
}
