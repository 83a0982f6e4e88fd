// out[s] = x[row[s]] W^T for slots s whose row exists, else 0: a gather in front of a matrix product, 16 slots a workgroup.
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));

extern "C" __global__ __launch_bounds__(64) void pick(const _Float16* __restrict__ x, const _Float16* __restrict__ w,
                                                      const int* __restrict__ rows, float* __restrict__ out, int count,
                                                      int n, int k) {
    const int lane = threadIdx.x;
    const int at = lane % 16;
    const int group = lane / 16;
    const int left = blockIdx.x * 16;
    const int source = rows[blockIdx.y * 16 + at];
    f32x4 sum = {};
    for (int start = 0; start < k; start += 16) {
        f16x4 fa = {};
        if (source < count) fa = *(const f16x4*)(x + source * k + start + group * 4);
        f16x4 fb = *(const f16x4*)(w + (left + at) * k + start + group * 4);
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(fa, fb, sum, 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i) out[(blockIdx.y * 16 + group * 4 + i) * n + left + at] = sum[i];
}
