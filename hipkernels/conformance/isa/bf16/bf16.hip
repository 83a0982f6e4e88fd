// bfloat16: the upper half of a float, which most architectures compute in single precision.
#include <hip/hip_runtime.h>

typedef __bf16 bf16;
typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Rounding to nearest even: v_cvt_pk_bf16_f32 on gfx950, v_bfe_u32 and v_add3_u32 elsewhere.
extern "C" __global__ void narrow(const float* x, bf16* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = bf16(x[i]);
    }
}

// Widening is a shift: v_lshlrev_b32, or v_and_b32 for the upper element.
extern "C" __global__ void widen(const bf16x2* __restrict__ x, float* __restrict__ out, int n) {
    const int i = global_id();
    if (i < n) {
        out[2 * i] = float(x[i].x);
        out[2 * i + 1] = float(x[i].y);
    }
}

// Sum, difference and product in single precision, rounded once to bfloat16.
extern "C" __global__ void arithmetic(const bf16* x, const bf16* y, bf16* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = bf16(float(x[i]) + float(y[i]));
        out[n + i] = bf16(float(x[i]) - float(y[i]));
        out[2 * n + i] = bf16(float(x[i]) * float(y[i]));
    }
}

// A row's dot product, accumulated in single precision: widening loads and v_fmac_f32 in a loop.
extern "C" __global__ void dot_rows(const bf16x2* x, const bf16x2* y, float* out, int rows, int pairs) {
    const int row = global_id();
    if (row >= rows) {
        return;
    }
    float sum = 0;
    for (int k = 0; k < pairs; k++) {
        const bf16x2 a = x[row * pairs + k], b = y[row * pairs + k];
        sum = fmaf(float(a.x), float(b.x), sum);
        sum = fmaf(float(a.y), float(b.y), sum);
    }
    out[row] = sum;
}
