// f32 arithmetic: what IEEE 754 defines completely.
#include <hip/hip_runtime.h>

// v_fma_f32, v_fmac_f32: one rounding.
extern "C" __global__ void fused(const float* x, const float* y, const float* z, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = fmaf(x[i], y[i], z[i]);
    }
}
