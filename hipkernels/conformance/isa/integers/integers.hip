// 32-bit and 16-bit integers: arithmetic, bits and bytes.
#include <hip/hip_runtime.h>

typedef short short2v __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2v __attribute__((ext_vector_type(2)));

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// v_mul_lo_u32, v_mul_hi_u32, v_mul_hi_i32.
extern "C" __global__ void multiply(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] * y[i];
        out[n + i] = __umulhi(x[i], y[i]);
        out[2 * n + i] = __mulhi(int(x[i]), int(y[i]));
    }
}

// 24-bit products: v_mul_u32_u24, v_mul_i32_i24, v_mad_u32_u24, v_mad_i32_i24.
extern "C" __global__ void multiply24(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __umul24(x[i], y[i]);
        out[n + i] = __mul24(int(x[i]), int(y[i]));
        out[2 * n + i] = __umul24(y[i], x[i] >> 4) + x[i];
        out[3 * n + i] = __mul24(int(y[i]), int(x[i]) >> 4) + int(y[i]);
    }
}

// Quotient and remainder without a divide instruction: v_rcp_iflag_f32, v_mul_hi_u32 and corrections.
extern "C" __global__ void divide(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned b = y[i] ? y[i] : 1;
        out[i] = x[i] / b;
        out[n + i] = x[i] % b;
        const int c = int(x[i]), d = (int(y[i]) == 0 || int(y[i]) == -1) ? 7 : int(y[i]);
        out[2 * n + i] = c / d;
        out[3 * n + i] = c % d;
    }
}

// By constants: multiplication by the inverse, shifts, v_bfe.
extern "C" __global__ void divide_by_constants(const int* x, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] / 7;
        out[n + i] = x[i] % 10;
        out[2 * n + i] = x[i] / 16;
        out[3 * n + i] = unsigned(x[i]) / 641u;
        out[4 * n + i] = unsigned(x[i]) % 1000u;
    }
}

// v_lshlrev_b32, v_lshrrev_b32, v_ashrrev_i32 and what is fused with them: v_lshl_add_u32, v_add_lshl_u32,
// v_lshl_or_b32.
extern "C" __global__ void shifts(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned by = y[i] & 31;
        out[i] = x[i] << by;
        out[n + i] = x[i] >> by;
        out[2 * n + i] = int(x[i]) >> by;
        out[3 * n + i] = (x[i] << 3) + y[i];
        out[4 * n + i] = (x[i] + y[i]) << 5;
        out[5 * n + i] = (x[i] << 7) | y[i];
    }
}

// v_bcnt_u32_b32, v_ffbh_u32 (v_clz_i32_u32), v_ffbl_b32 (v_ctz_i32_b32), v_bfrev_b32.
extern "C" __global__ void counts(const unsigned* x, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __popc(x[i]);
        out[n + i] = __clz(int(x[i]));
        out[2 * n + i] = __ffs(x[i]);
        out[3 * n + i] = __brev(x[i]);
        out[4 * n + i] = __popc(x[i]) + i;
    }
}

// v_bfe_u32, v_bfe_i32, v_bfi_b32, v_alignbit_b32, v_bfm_b32.
extern "C" __global__ void fields(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned at = y[i] & 31, width = y[i] >> 8 & 31;
        out[i] = __builtin_amdgcn_ubfe(x[i], at, width);
        out[n + i] = __builtin_amdgcn_sbfe(int(x[i]), at, width);
        out[2 * n + i] = (x[i] & y[i]) | (~x[i] & 0x12345678u);
        out[3 * n + i] = __builtin_amdgcn_alignbit(x[i], y[i], at);
        out[4 * n + i] = __funnelshift_l(x[i], y[i], width);
        out[5 * n + i] = x[i] >> 9 & 0x7ff;
    }
}

// v_perm_b32 with selectors of every kind (bytes, signs, 0x00, 0xff), v_alignbyte_b32.
extern "C" __global__ void permute_bytes(const unsigned* x, const unsigned* y, const unsigned* selector, unsigned* out,
                                         int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_perm(x[i], y[i], selector[i]);
        out[n + i] = __builtin_amdgcn_perm(x[i], y[i], 0x0c0d0705);
        out[2 * n + i] = __byte_perm(x[i], y[i], 0x6240);
        out[3 * n + i] = __builtin_amdgcn_alignbyte(x[i], y[i], selector[i] & 3);
        out[4 * n + i] = __builtin_bswap32(x[i]);
    }
}

// v_min_i32, v_max_u32, v_min3_i32, v_max3_u32, v_med3_i32.
extern "C" __global__ void minimum_maximum(const int* x, const int* y, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        const int a = x[i], b = y[i];
        const unsigned c = a, d = b;
        out[i] = min(a, b);
        out[n + i] = max(c, d);
        out[2 * n + i] = min(min(a ^ 3, b), 77);
        out[3 * n + i] = max(max(c, d ^ 5), 0x80000001u);
        out[4 * n + i] = min(max(a, -100), 100);
        out[5 * n + i] = abs(a == INT32_MIN ? 0 : a);
    }
}

// Saturating: the clamp bit of v_add_u32, v_sub_u32, v_add_i32, v_sub_i32.
extern "C" __global__ void saturating(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const int a = x[i], b = y[i];
        out[i] = __builtin_elementwise_add_sat(x[i], y[i]);
        out[n + i] = __builtin_elementwise_sub_sat(x[i], y[i]);
        out[2 * n + i] = __builtin_elementwise_add_sat(a, b);
        out[3 * n + i] = __builtin_elementwise_sub_sat(a, b);
    }
}

// Three operands of logic and addition: v_add3_u32, v_and_or_b32, v_or3_b32, v_xad_u32, v_xor3_b32, v_bitop3_b32.
extern "C" __global__ void three_operands(const unsigned* x, const unsigned* y, const unsigned* z, unsigned* out,
                                          int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned a = x[i], b = y[i], c = z[i];
        out[i] = a + b + c;
        out[n + i] = (a & b) | c;
        out[2 * n + i] = a | b | c;
        out[3 * n + i] = (a ^ b) + c;
        out[4 * n + i] = a ^ b ^ c;
        out[5 * n + i] = (a & b) | (b & c) | (a & c);
        out[6 * n + i] = ~(a | ~b);
    }
}

// Sums of absolute differences: v_sad_u8, v_sad_u16, v_sad_u32, v_msad_u8, v_lerp_u8.
extern "C" __global__ void differences(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_sad_u8(x[i], y[i], 1000);
        out[n + i] = __builtin_amdgcn_sad_u16(x[i], y[i], y[i]);
        out[2 * n + i] = __usad(x[i], y[i], 5);
        out[3 * n + i] = __builtin_amdgcn_msad_u8(x[i], y[i], 7);
        out[4 * n + i] = __builtin_amdgcn_lerp(x[i], y[i], 0x01000101);
    }
}

// 16-bit elements: v_add_u16, v_mul_lo_u16, shifts and comparisons, which must not let upper halves through.
extern "C" __global__ void short_elements(const unsigned short* x, const unsigned short* y, unsigned short* out,
                                          int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned short a = x[i], b = y[i];
        out[i] = a + b;
        out[n + i] = a * b;
        out[2 * n + i] = (unsigned short)(a - b) >> 3;
        out[3 * n + i] = short(a) >> (b & 15);
        out[4 * n + i] = short(a) < short(b) ? a : b;
        out[5 * n + i] = a > b ? a + 1 : b;
    }
}

// Packed 16-bit elements: v_pk_add_u16, v_pk_mul_lo_u16, v_pk_mad_u16, v_pk_max_i16, v_pk_lshlrev_b16.
extern "C" __global__ void packed(const ushort2v* x, const ushort2v* y, ushort2v* out, int n) {
    const int i = global_id();
    if (i < n) {
        const ushort2v a = x[i], b = y[i];
        out[i] = a + b;
        out[n + i] = a * b;
        out[2 * n + i] = a * b + a;
        out[3 * n + i] = __builtin_bit_cast(
            ushort2v, __builtin_elementwise_max(__builtin_bit_cast(short2v, a), __builtin_bit_cast(short2v, b)));
        out[4 * n + i] = a << (b & (unsigned short)15);
        out[5 * n + i] = __builtin_elementwise_sub_sat(a, b);
    }
}

// Murmur3's finaliser and a xorshift: what hashes are made of.
extern "C" __global__ void hashes(const unsigned* x, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        unsigned h = x[i];
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h ^= h >> 16;
        out[i] = h;
        unsigned s = x[i] | 1;
        for (int round = 0; round < 3; round++) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
        }
        out[n + i] = s;
    }
}

// Uniform values live in scalar registers: s_mul_i32, s_mul_hi_u32, s_bfe, s_bcnt1, s_ff1, s_min, s_sext, s_bitcmp1.
extern "C" __global__ void scalars(unsigned a, unsigned b, int c, int d, unsigned* out) {
    unsigned r[15];
    r[0] = a * b;
    r[1] = __umulhi(a, b);
    r[2] = __popc(a ^ b);
    r[3] = __ffs(a);
    r[4] = __clz(int(b));
    r[5] = a >> 5 & 0xff;
    r[6] = unsigned(c << 20 >> 24);
    r[7] = unsigned(min(c, d));
    r[8] = max(a, b);
    r[9] = unsigned(abs(c));
    r[10] = c < d ? a + 5 : b - 5;
    r[11] = __brev(a) & ~b;
    r[12] = unsigned(__mulhi(c, d));
    r[13] = unsigned(int((signed char)c) + int(short(d)));
    r[14] = b >> 19 & 1 ? a : 12345;
    for (int k = 0; k < 15; k++) {
        out[k * blockDim.x + threadIdx.x] = r[k] + threadIdx.x;
    }
}
