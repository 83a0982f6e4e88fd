// Conversions between number formats.
#include <hip/hip_runtime.h>

typedef long long i64;
typedef unsigned long long u64;
typedef __fp16 fp16x2 __attribute__((ext_vector_type(2)));
typedef float float2v __attribute__((ext_vector_type(2)));

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// v_cvt_i32_f32, v_cvt_u32_f32: toward zero; values that do not fit are brought into range first.
extern "C" __global__ void float_to_int(const float* x, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        const float signed_part = fminf(fmaxf(x[i], -2147483648.0f), 2147483520.0f);
        const float unsigned_part = fminf(fmaxf(x[i], 0.0f), 4294967040.0f);
        out[i] = int(signed_part);
        out[n + i] = int(unsigned(unsigned_part));
    }
}

// v_cvt_f32_i32, v_cvt_f32_u32; and from 64 bits, where a shift and a sticky bit come first.
extern "C" __global__ void int_to_float(const i64* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = float(int(x[i]));
        out[n + i] = float(unsigned(x[i]));
        out[2 * n + i] = float(x[i]);
        out[3 * n + i] = float(u64(x[i]));
    }
}

// v_cvt_f64_i32, v_cvt_f64_u32, v_ldexp_f64 for the upper half; v_cvt_i32_f64, v_cvt_u32_f64 back.
extern "C" __global__ void int_and_double(const i64* x, double* out, i64* back, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = double(int(x[i]));
        out[n + i] = double(unsigned(x[i]));
        out[2 * n + i] = double(x[i]);
        out[3 * n + i] = double(u64(x[i]));
        back[i] = i64(double(x[i] >> 2));
        back[n + i] = i64(u64(double(u64(x[i]) >> 1)));
        back[2 * n + i] = int(double(int(x[i])) * 0.999);
        back[3 * n + i] = unsigned(double(unsigned(x[i])) * 0.75);
    }
}

// v_cvt_f32_f16 and v_cvt_f16_f32.
extern "C" __global__ void half_and_float(const _Float16* x, const float* y, float* wide, _Float16* narrow, int n) {
    const int i = global_id();
    if (i < n) {
        wide[i] = float(x[i]);
        narrow[i] = _Float16(y[i]);
    }
}

// v_cvt_f32_f64, v_cvt_f64_f32, and f64 to f16 in one rounding, which takes some care.
extern "C" __global__ void double_to_less(const double* x, const float* y, float* single, double* wide, _Float16* half,
                                          int n) {
    const int i = global_id();
    if (i < n) {
        single[i] = float(x[i]);
        wide[i] = double(y[i]);
        half[i] = _Float16(x[i]);
    }
}

// v_cvt_f32_ubyte0 to v_cvt_f32_ubyte3.
extern "C" __global__ void bytes_to_float(const unsigned* x, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned v = x[i];
        out[i] = float(v & 0xff);
        out[n + i] = float(v >> 8 & 0xff);
        out[2 * n + i] = float(v >> 16 & 0xff);
        out[3 * n + i] = float(v >> 24);
    }
}

// Sign extension and truncation: global_load_sbyte, global_load_sshort, v_bfe_i32, global_store_byte and _short.
extern "C" __global__ void narrow_integers(const signed char* x, const short* y, const int* z, int* out, short* half,
                                           unsigned char* byte, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = x[i] * 3;
        out[n + i] = y[i] - 5;
        out[2 * n + i] = (signed char)z[i];
        out[3 * n + i] = short(z[i] >> 8);
        half[i] = short(z[i] ^ 0x55);
        byte[i] = (unsigned char)(z[i] + y[i]);
    }
}

// Two at a time: v_cvt_pkrtz_f16_f32 (toward zero), v_cvt_pknorm_i16_f32, v_cvt_pknorm_u16_f32, v_cvt_pk_i16_i32,
// v_cvt_pk_u16_u32.
extern "C" __global__ void pack(const float2v* x, const int* z, fp16x2* halves, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const float a = x[i].x, b = x[i].y;
        halves[i] = __builtin_amdgcn_cvt_pkrtz(a, b);
        out[i] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pknorm_i16(a, b));
        out[n + i] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pknorm_u16(a, b));
        out[2 * n + i] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pk_i16(z[i], z[i] >> 16));
        out[3 * n + i] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pk_u16(unsigned(z[i]), unsigned(z[i]) >> 15));
    }
}

#if defined(__GFX9__) || defined(__GFX12__)
// 8-bit floats, four to a dword, in the architecture's own flavour: v_cvt_pk_f32_fp8, v_cvt_pk_f32_bf8, v_cvt_f32_fp8,
// v_cvt_f32_bf8 and back with v_cvt_pk_fp8_f32, v_cvt_pk_bf8_f32. A byte that is a number comes back as it was.
extern "C" __global__ void eight_bits(const unsigned* x, float* wide, unsigned* back, int n) {
    const int i = global_id();
    if (i < n) {
        const int v = int(x[i]);
        const float2v low = __builtin_amdgcn_cvt_pk_f32_fp8(v, false);
        const float third = __builtin_amdgcn_cvt_f32_fp8(v, 2), fourth = __builtin_amdgcn_cvt_f32_fp8(v, 3);
        wide[4 * i] = low.x;
        wide[4 * i + 1] = low.y;
        wide[4 * i + 2] = third;
        wide[4 * i + 3] = fourth;
        const float2v high = __builtin_amdgcn_cvt_pk_f32_bf8(v, true);
        const float first = __builtin_amdgcn_cvt_f32_bf8(v, 0), second = __builtin_amdgcn_cvt_f32_bf8(v, 1);
        wide[4 * n + 4 * i] = first;
        wide[4 * n + 4 * i + 1] = second;
        wide[4 * n + 4 * i + 2] = high.x;
        wide[4 * n + 4 * i + 3] = high.y;
        int packed = __builtin_amdgcn_cvt_pk_fp8_f32(low.x, low.y, 0, false);
        back[i] = __builtin_amdgcn_cvt_pk_fp8_f32(third, fourth, packed, true);
        packed = __builtin_amdgcn_cvt_pk_bf8_f32(first, second, 0, false);
        back[n + i] = __builtin_amdgcn_cvt_pk_bf8_f32(high.x, high.y, packed, true);
    }
}
#endif

#if defined(__GFX9__) || defined(__GFX12__)
// Stochastic rounding by a random number per element: v_cvt_sr_fp8_f32, v_cvt_sr_bf8_f32. The number is added below
// the bits that stay.
extern "C" __global__ void stochastic(const float* x, const int* random, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_cvt_sr_fp8_f32(x[i], random[i], 0, 0);
        out[n + i] = __builtin_amdgcn_cvt_sr_bf8_f32(x[i], random[i], 0x11223344, 2);
    }
}
#endif

#if defined(__gfx950__)
// Formats of 8 and 4 bits with a scale: v_cvt_scalef32_pk_f32_fp8, _bf8, _fp4, and back. A power of two that fits
// leaves every number as it was.
extern "C" __global__ void scaled(const unsigned* x, const unsigned* nibbles, const float* scale, float2v* wide,
                                  unsigned* back, int n) {
    const int i = global_id();
    if (i < n) {
        const int v = int(x[i]);
        const float s = scale[i];
        const float2v a = __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(v, s, false);
        const float2v b = __builtin_amdgcn_cvt_scalef32_pk_f32_bf8(v, s, true);
        const float2v c = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(nibbles[i], s, 0);
        const float2v d = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(nibbles[i], s, 3);
        wide[i] = a;
        wide[n + i] = b;
        wide[2 * n + i] = c;
        wide[3 * n + i] = d;
        const unsigned packed = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(0, c.x, c.y, s, 0);
        back[i] = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(packed, d.x, d.y, s, 3);
    }
}
#endif
