// C = A B in f32 with tiles of 64 x 64 in LDS: 256 work-items, each with 4 x 4 elements of C. Row-major; sizes are
// multiples of 64 (K of 16).
#include <hip/hip_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
tiled_gemm(const float* A, const float* B, float* C, int N, int K) {
    __shared__ float as[16][64];   // transposed: k, row
    __shared__ float bs[16][64];   // k, column
    const int t = threadIdx.x, row = t / 16 * 4, column = t % 16 * 4;
    const float* a = A + (blockIdx.y * 64 + t / 4) * K + t % 4 * 4;
    const float* b = B + t / 16 * N + blockIdx.x * 64 + t % 16 * 4;

    float c[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        const float4 av = *(const float4*)(a + k0);
        const float4 bv = *(const float4*)(b + k0 * N);
        __syncthreads();
        as[t % 4 * 4 + 0][t / 4] = av.x;
        as[t % 4 * 4 + 1][t / 4] = av.y;
        as[t % 4 * 4 + 2][t / 4] = av.z;
        as[t % 4 * 4 + 3][t / 4] = av.w;
        *(float4*)&bs[t / 16][t % 16 * 4] = bv;
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            const float4 x = *(const float4*)&as[k][row];
            const float4 y = *(const float4*)&bs[k][column];
            const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) c[i][j] = __builtin_fmaf(xs[i], ys[j], c[i][j]);
        }
    }
    for (int i = 0; i < 4; i++)
        *(float4*)(C + (blockIdx.y * 64 + row + i) * N + blockIdx.x * 64 + column) = float4{c[i][0], c[i][1], c[i][2], c[i][3]};
}
