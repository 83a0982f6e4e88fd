// C[M,N] = alpha * A[M,K] B[K,N] + beta * C in f16 with f32 sums: tiles of 32 x 32, four waves, A and B through the LDS.
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));

#define STEP 32

__device__ __forceinline__ int spot(int row, int col) {
    return row * STEP + ((((col >> 2) ^ row) & 7) << 2) + (col & 3);
}

extern "C" __global__ __launch_bounds__(256) void tile(const _Float16* __restrict__ a, const _Float16* __restrict__ b,
                                                       float* __restrict__ c, int m, int n, int k, float alpha, float beta) {
    __shared__ _Float16 sa[32 * STEP];
    __shared__ _Float16 sb[32 * STEP];
    const int tid = threadIdx.x;
    const int lane = tid % 64;
    const int wave = tid / 64;
    const int top = blockIdx.y * 32;
    const int left = blockIdx.x * 32;
    const int row = tid / 8;
    const int col = tid % 8 * 4;
    f32x4 sum = {};
    for (int start = 0; start < k; start += STEP) {
        f16x4 ra = *(const f16x4*)(a + (top + row) * k + start + col);
        f16x4 rb = *(const f16x4*)(b + (left + row) * k + start + col);
        *(f16x4*)(sa + spot(row, col)) = ra;
        *(f16x4*)(sb + spot(row, col)) = rb;
        __syncthreads();
        for (int part = 0; part < STEP; part += 16) {
            const int kk = part + (lane / 16) * 4;
            f16x4 fa = *(const f16x4*)(sa + spot(wave / 2 * 16 + lane % 16, kk));
            f16x4 fb = *(const f16x4*)(sb + spot(wave % 2 * 16 + lane % 16, kk));
            sum = __builtin_amdgcn_mfma_f32_16x16x16f16(fa, fb, sum, 0, 0, 0);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int down = top + wave / 2 * 16 + lane / 16 * 4 + i;
        const int across = left + wave % 2 * 16 + lane % 16;
        float* place = c + down * n + across;
        *place = alpha * sum[i] + beta * *place;
    }
}
