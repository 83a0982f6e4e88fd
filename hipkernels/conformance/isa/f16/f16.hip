// Half precision, one element and two at a time, and mixed with single precision.
#include <hip/hip_runtime.h>

typedef _Float16 half2v __attribute__((ext_vector_type(2)));

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// v_add_f16, v_sub_f16, v_mul_f16, v_fma_f16.
extern "C" __global__ void arithmetic(const _Float16* x, const _Float16* y, const _Float16* z, _Float16* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] + y[i];
        out[n + i] = x[i] - y[i];
        out[2 * n + i] = x[i] * y[i];
        out[3 * n + i] = __builtin_fmaf16(x[i], y[i], z[i]);
    }
}

// v_pk_add_f16, v_pk_mul_f16, v_pk_fma_f16, and halves exchanged by op_sel.
extern "C" __global__ void packed(const half2v* x, const half2v* y, const half2v* z, half2v* out, int n) {
    const int i = global_id();
    if (i < n) {
        const half2v a = x[i], b = y[i], c = z[i];
        out[i] = a + b;
        out[n + i] = a * b;
        out[2 * n + i] = __builtin_elementwise_fma(a, b, c);
        out[3 * n + i] = a - b.yx;
        out[4 * n + i] = -a * b.xx;
    }
}

// v_rcp_f16 or a quotient in single precision, and v_div_fixup_f16: rounded once.
extern "C" __global__ void divide(const _Float16* x, const _Float16* y, _Float16* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] / y[i];
    }
}

// v_sqrt_f16, v_rcp_f16, v_rsq_f16: approximations, within a unit of the last place.
extern "C" __global__ void approximations(const _Float16* x, _Float16* out, int n) {
    const int i = global_id();
    if (i < n) {
        const _Float16 size = __builtin_fabsf16(x[i]);
        out[i] = __builtin_sqrtf16(size);
        out[n + i] = __builtin_amdgcn_rcph(x[i]);
        out[2 * n + i] = __builtin_amdgcn_rsqh(size);
    }
}

// v_floor_f16, v_ceil_f16, v_trunc_f16, v_rndne_f16 on every half there is.
extern "C" __global__ void rounding(const _Float16* x, _Float16* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_floorf16(x[i]);
        out[n + i] = __builtin_ceilf16(x[i]);
        out[2 * n + i] = __builtin_truncf16(x[i]);
        out[3 * n + i] = __builtin_rintf16(x[i]);
    }
}

// v_min_f16, v_max_f16, v_cmp_*_f16, v_cmp_class_f16.
extern "C" __global__ void compare(const _Float16* x, const _Float16* y, _Float16* chosen, unsigned* tests, int n) {
    const int i = global_id();
    if (i < n) {
        const _Float16 a = x[i], b = y[i];
        chosen[i] = __builtin_fminf16(a, b);
        chosen[n + i] = __builtin_fmaxf16(a, b);
        unsigned bits = a < b;
        bits |= unsigned(a == b) << 1;
        bits |= unsigned(!(a >= b)) << 2;
        bits |= unsigned(__builtin_isnan(a)) << 3;
        bits |= unsigned(__builtin_isinf(b)) << 4;
        tests[i] = bits;
    }
}

// v_fma_mix_f32, v_fma_mixlo_f16, v_fma_mixhi_f16: halves as operands of a product in single precision.
extern "C" __global__ void mixed(const half2v* x, const half2v* y, const float* z, float* wide, half2v* pair,
                                 _Float16* low, int n) {
    const int i = global_id();
    if (i < n) {
        wide[i] = fmaf(float(x[i].x), float(y[i].y), z[i]);
        wide[n + i] = fmaf(float(x[i].y), -float(y[i].x), z[i]);
        pair[i] = half2v{x[i].y, _Float16(fmaf(float(x[i].x), float(y[i].x), z[i]))};
        low[i] = _Float16(fmaf(float(x[i].y), z[i], float(y[i].y)));
    }
}

// v_frexp_mant_f16, v_frexp_exp_i16_f16, v_ldexp_f16.
extern "C" __global__ void exponents(const _Float16* x, const int* shift, _Float16* out, int* exponent, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_frexp_manth(x[i]);
        exponent[i] = __builtin_isfinite(x[i]) ? __builtin_amdgcn_frexp_exph(x[i]) : 0;
        out[n + i] = __builtin_amdgcn_ldexph(x[i], shift[i]);
    }
}
