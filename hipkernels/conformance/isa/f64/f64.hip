// Double precision.
#include <hip/hip_runtime.h>

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// v_add_f64, v_mul_f64, v_fma_f64.
extern "C" __global__ void arithmetic(const double* x, const double* y, const double* z, double* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] + y[i];
        out[n + i] = x[i] - y[i];
        out[2 * n + i] = x[i] * y[i];
        out[3 * n + i] = fma(x[i], y[i], z[i]);
    }
}

// v_div_scale_f64, v_rcp_f64, v_fma_f64, v_div_fmas_f64, v_div_fixup_f64; v_rsq_f64 and corrections for the root.
extern "C" __global__ void divide_and_root(const double* x, const double* y, double* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] / y[i];
        out[n + i] = sqrt(x[i]);
    }
}

// v_floor_f64, v_ceil_f64, v_trunc_f64, v_rndne_f64, v_fract_f64.
extern "C" __global__ void rounding(const double* x, double* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = floor(x[i]);
        out[n + i] = ceil(x[i]);
        out[2 * n + i] = trunc(x[i]);
        out[3 * n + i] = rint(x[i]);
        out[4 * n + i] = __builtin_amdgcn_fract(x[i]);
    }
}

// v_min_f64, v_max_f64, v_cmp_*_f64, v_cmp_class_f64.
extern "C" __global__ void compare(const double* x, const double* y, double* chosen, unsigned* tests, int n) {
    const int i = global_id();
    if (i < n) {
        const double a = x[i], b = y[i];
        chosen[i] = fmin(a, b);
        chosen[n + i] = fmax(a, b);
        unsigned bits = a < b;
        bits |= unsigned(a == b) << 1;
        bits |= unsigned(!(a >= b)) << 2;
        bits |= unsigned(isnan(a)) << 3;
        bits |= unsigned(isinf(b)) << 4;
        bits |= unsigned(__builtin_isnormal(a)) << 5;
        tests[i] = bits;
    }
}

// v_frexp_mant_f64, v_frexp_exp_i32_f64, v_ldexp_f64.
extern "C" __global__ void exponents(const double* x, const int* shift, double* out, int* exponent, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = frexp(x[i], &exponent[i]);
        out[n + i] = ldexp(x[i], shift[i]);
    }
}

// Kahan's compensated sum of a row: it only works when nothing is contracted or reordered.
extern "C" __global__ void compensated_sum(const double* x, double* out, int rows, int columns) {
#pragma clang fp contract(off) reassociate(off)
    const int row = global_id();
    if (row >= rows) {
        return;
    }
    double sum = 0, lost = 0;
    for (int k = 0; k < columns; k++) {
        const double next = x[row * columns + k] - lost;
        const double total = sum + next;
        lost = (total - sum) - next;
        sum = total;
    }
    out[row] = sum;
}
