// 64-bit integers: pairs of registers, carries and wide products.
#include <hip/hip_runtime.h>

typedef unsigned long long u64;
typedef long long i64;

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// v_add_co_u32 and v_addc_co_u32, v_lshl_add_u64; subtraction with borrow.
extern "C" __global__ void add_wide(const u64* x, const u64* y, u64* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] + y[i];
        out[n + i] = x[i] - y[i];
        out[2 * n + i] = (x[i] << 2) + y[i];
        out[3 * n + i] = x[i] + unsigned(y[i]);
        u64 sum;
        out[4 * n + i] = __builtin_add_overflow(x[i], y[i], &sum);
    }
}

// v_mad_u64_u32, v_mad_i64_i32: 32 by 32 bits to 64; 64 by 64 to 64 and to the upper half of 128.
extern "C" __global__ void multiply_wide(const u64* x, const u64* y, u64* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = u64(unsigned(x[i])) * unsigned(y[i]) + y[i];
        out[n + i] = i64(int(x[i])) * int(y[i]);
        out[2 * n + i] = x[i] * y[i];
        out[3 * n + i] = __umul64hi(x[i], y[i]);
        out[4 * n + i] = __mul64hi(i64(x[i]), i64(y[i]));
    }
}

// 64-bit division: a long expansion with v_rcp_f32 and a branch for short operands.
extern "C" __global__ void divide_wide(const u64* x, const u64* y, u64* out, int n) {
    const int i = global_id();
    if (i < n) {
        const u64 b = y[i] ? y[i] : 3;
        out[i] = x[i] / b;
        out[n + i] = x[i] % b;
        const i64 c = x[i], d = (i64(y[i]) == 0 || i64(y[i]) == -1) ? -7 : i64(y[i]);
        out[2 * n + i] = c / d;
        out[3 * n + i] = c % d;
    }
}

// v_lshlrev_b64, v_lshrrev_b64, v_ashrrev_i64, and counts of 64 bits.
extern "C" __global__ void shift_wide(const u64* x, const u64* y, u64* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned by = y[i] & 63;
        out[i] = x[i] << by;
        out[n + i] = x[i] >> by;
        out[2 * n + i] = i64(x[i]) >> by;
        out[3 * n + i] = __popcll(x[i]);
        out[4 * n + i] = __clzll(i64(x[i]));
        out[5 * n + i] = __ffsll(x[i]);
        out[6 * n + i] = __brevll(x[i]);
    }
}

// v_cmp_*_i64 and v_cmp_*_u64 and what selects by them.
extern "C" __global__ void compare_wide(const i64* x, const i64* y, i64* out, int n) {
    const int i = global_id();
    if (i < n) {
        const i64 a = x[i], b = y[i];
        unsigned bits = a < b;
        bits |= unsigned(u64(a) < u64(b)) << 1;
        bits |= unsigned(a == b) << 2;
        bits |= unsigned(a >= b) << 3;
        bits |= unsigned(u64(a) > u64(b)) << 4;
        out[i] = bits;
        out[n + i] = min(a, b);
        out[2 * n + i] = max(u64(a), u64(b));
        out[3 * n + i] = a == b ? i64(-1) : a;
    }
}
