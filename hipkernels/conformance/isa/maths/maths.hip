// f32 arithmetic. Results that IEEE 754 defines are compared bit for bit.
#include <hip/hip_runtime.h>

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// v_fma_f32, v_fmac_f32: one rounding.
extern "C" __global__ void fused(const float* x, const float* y, const float* z, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = fmaf(x[i], y[i], z[i]);
    }
}

// v_add_f32, v_sub_f32, v_mul_f32.
extern "C" __global__ void arithmetic(const float* x, const float* y, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] + y[i];
        out[n + i] = x[i] - y[i];
        out[2 * n + i] = x[i] * y[i];
    }
}

// Correctly rounded division: v_div_scale_f32, v_rcp_f32, v_fma_f32, v_div_fmas_f32, v_div_fixup_f32.
extern "C" __global__ void divide(const float* x, const float* y, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] / y[i];
    }
}

// Correctly rounded square root: v_sqrt_f32 and a correction by v_fma_f32.
extern "C" __global__ void square_root(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = sqrtf(x[i]);
    }
}

// v_floor_f32, v_ceil_f32, v_trunc_f32, v_rndne_f32, and round half away, made of several.
extern "C" __global__ void rounding(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = floorf(x[i]);
        out[n + i] = ceilf(x[i]);
        out[2 * n + i] = truncf(x[i]);
        out[3 * n + i] = rintf(x[i]);
        out[4 * n + i] = roundf(x[i]);
    }
}

// v_min_f32, v_max_f32, v_med3_f32 (a clamp to a range).
extern "C" __global__ void minimum_maximum(const float* x, const float* y, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = fminf(x[i], y[i]);
        out[n + i] = fmaxf(x[i], y[i]);
        out[2 * n + i] = fminf(fmaxf(x[i], -1.5f), 2.5f);
        const float a = isnan(x[i]) ? 3.0f : x[i], b = isnan(y[i]) ? -3.0f : y[i];
        out[3 * n + i] = __builtin_amdgcn_fmed3f(a, b, 0.25f);
    }
}

// v_frexp_mant_f32, v_frexp_exp_i32_f32, v_ldexp_f32.
extern "C" __global__ void exponents(const float* x, const int* shift, float* mantissa, int* exponent, float* scaled,
                                     int n) {
    const int i = global_id();
    if (i < n) {
        mantissa[i] = frexpf(x[i], &exponent[i]);
        scaled[i] = ldexpf(x[i], shift[i]);
    }
}

// v_cmp_class_f32: what kind of number it is, one bit each.
extern "C" __global__ void classify(const float* x, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned kind = isnan(x[i]);
        kind |= unsigned(isinf(x[i])) << 1;
        kind |= unsigned(__builtin_isnormal(x[i])) << 2;
        kind |= unsigned(isfinite(x[i])) << 3;
        kind |= unsigned(signbit(x[i])) << 4;
        kind |= unsigned(__builtin_isfpclass(x[i], 0x0090)) << 5;  // either denormal
        out[i] = kind;
    }
}

// v_cmp_{lt,le,eq,neq,nlt,nle,o,u,lg}_f32: comparisons and their negations, which differ for a NaN.
extern "C" __global__ void compare(const float* x, const float* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const float a = x[i], b = y[i];
        unsigned bits = a < b;
        bits |= unsigned(a <= b) << 1;
        bits |= unsigned(a == b) << 2;
        bits |= unsigned(a != b) << 3;
        bits |= unsigned(!(a < b)) << 4;
        bits |= unsigned(!(a <= b)) << 5;
        bits |= unsigned(a > b) << 6;
        bits |= unsigned(a >= b) << 7;
        bits |= unsigned(__builtin_isunordered(a, b)) << 8;
        bits |= unsigned(__builtin_islessgreater(a, b)) << 9;
        out[i] = bits;
    }
}

// Horner's rule with literals: v_fmaak_f32, v_fmamk_f32 and VOP3 literals.
extern "C" __global__ void polynomial(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        const float t = x[i];
        float sum = 0x1.6c16c2p-10f;
        sum = fmaf(sum, t, 0x1.111112p-7f);
        sum = fmaf(sum, t, 0x1.555556p-5f);
        sum = fmaf(t, 0x1.b7812ap+2f, sum);
        sum = fmaf(sum, t, 1.0f);
        out[i] = sum;
    }
}

// Input modifiers |x| and -x, v_bfi_b32 for the sign.
extern "C" __global__ void signs(const float* x, const float* y, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = -fabsf(x[i]) * y[i];
        out[n + i] = copysignf(x[i], y[i]);
        out[2 * n + i] = fmaf(-x[i], fabsf(y[i]), 1.0f);
    }
}

// v_exp_f32, v_log_f32, v_rcp_f32, v_rsq_f32 themselves: within one unit of the last place.
extern "C" __global__ void approximations(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_exp2f(x[i]);
        out[n + i] = __builtin_amdgcn_logf(fabsf(x[i]));
        out[2 * n + i] = __builtin_amdgcn_rcpf(x[i]);
        out[3 * n + i] = __builtin_amdgcn_rsqf(fabsf(x[i]));
    }
}

// v_fract_f32: x - floor(x), below 1 even where that rounds to it.
extern "C" __global__ void fractions(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_fractf(x[i]);
    }
}

// v_sin_f32, v_cos_f32: the argument counts whole turns.
extern "C" __global__ void trigonometry(const float* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_sinf(x[i]);
        out[n + i] = __builtin_amdgcn_cosf(x[i]);
    }
}

// Two at a time: v_pk_add_f32, v_pk_mul_f32, v_pk_fma_f32 on gfx9, pairs of instructions elsewhere.
typedef float float2v __attribute__((ext_vector_type(2)));
extern "C" __global__ void pairs(const float2v* x, const float2v* y, const float2v* z, float2v* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] + y[i];
        out[n + i] = x[i] * y[i].yx;
        out[2 * n + i] = __builtin_elementwise_fma(-x[i], y[i].xx, z[i]);
    }
}
