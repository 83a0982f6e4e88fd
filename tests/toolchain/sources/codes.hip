// Host entry points to what our headers compute in plain C++, so that a test on the CPU can try it.
#include <mfmasim/qualifiers.h>

// Device-only functions of these two headers, for this once on the host as well.
#undef MFMASIM_DEVICE
#define MFMASIM_DEVICE MFMASIM_HOST_DEVICE
#include <mfmasim/casts.h>
#include <mfmasim/integers.h>
#undef MFMASIM_DEVICE
#define MFMASIM_DEVICE static __device__ inline __attribute__((always_inline, nodebug))

#include <hip/hip_bfloat16.h>
#include <hip/hip_ext_ocp.h>
#include <hip/hip_fp8.h>

static mfmasim::fp8_format format(int index) { return mfmasim::format_of((__hip_fp8_interpretation_t)index); }

extern "C" void encode(const float* in, uint8_t* out, int count, int index, int saturate) {
  for (int i = 0; i < count; ++i) out[i] = mfmasim::encode(in[i], format(index), saturate);
}
extern "C" void decode(float* out, int index) {
  for (int i = 0; i < 256; ++i) out[i] = mfmasim::decode((uint8_t)i, format(index));
}
extern "C" void encode_bfloat16(const float* in, uint16_t* out, int count) {
  for (int i = 0; i < count; ++i) out[i] = __float2bfloat16(in[i]).__x;
}
extern "C" void decode_scales(float* out) {
  for (int i = 0; i < 256; ++i) out[i] = __amd_scale_to_float((__amd_scale_t)(i - 127));
}
extern "C" void nibbles(uint8_t* low, uint8_t* high, uint8_t* both) {
  for (int i = 0; i < 256; ++i) {
    low[i] = __amd_extract_fp4((uint8_t)i, 0);
    high[i] = __amd_extract_fp4((uint8_t)i, 1);
    both[i] = __amd_create_fp4x2(low[i], high[i]);
  }
}

extern "C" void integers(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out, int count) {
  for (int i = 0; i < count; ++i) {
    uint32_t x = a[i], y = b[i], z = c[i];
    const uint32_t row[] = {
        (uint32_t)__clz((int)x),
        (uint32_t)__ffs(x),
        (uint32_t)__popc(x),
        __brev(x),
        (uint32_t)__mul24((int)x, (int)y),
        __umul24(x, y),
        (uint32_t)__mulhi((int)x, (int)y),
        __umulhi(x, y),
        __byte_perm(x, y, z),
        __funnelshift_l(x, y, z),
        __funnelshift_r(x, y, z),
        __funnelshift_lc(x, y, z),
        __funnelshift_rc(x, y, z),
        (uint32_t)__hadd((int)x, (int)y),
        (uint32_t)__rhadd((int)x, (int)y),
        __uhadd(x, y),
        __urhadd(x, y),
        __sad((int)x, (int)y, z),
        __usad(x, y, z),
        (uint32_t)min((int)x, (int)y),
        max(x, y),
        min((int)x, y),
        (uint32_t)__clzll((long long)((uint64_t)x << 32 | y) >> (z & 31)),
        (uint32_t)__ffsll((long long)((uint64_t)x << 32)),
        (uint32_t)__popcll((uint64_t)x << 32 | y),
        (uint32_t)(__brevll((uint64_t)x << 32 | y) >> 32),
        (uint32_t)__mul64hi((long long)((uint64_t)x << 32 | y), (long long)((uint64_t)y << 32 | z)),
        (uint32_t)__umul64hi((uint64_t)x << 32 | y, (uint64_t)y << 32 | z),
        (uint32_t)__double2hiint(__hiloint2double((int)x, (int)y)),
        (uint32_t)__double2loint(__hiloint2double((int)x, (int)y)),
    };
    static_assert(sizeof(row) == 30 * 4, "one column per function");
    __builtin_memcpy(out + 30 * i, row, sizeof(row));
  }
}

extern "C" void roundings(const float* in, int32_t* out, int count) {
  for (int i = 0; i < count; ++i) {
    out[4 * i] = __float2int_rn(in[i]);
    out[4 * i + 1] = __float2int_rz(in[i]);
    out[4 * i + 2] = __float2int_rd(in[i]);
    out[4 * i + 3] = __float2int_ru(in[i]);
  }
}

// Sum, product, quotient and order of every pair, and each one's way to float and back.
extern "C" void halves(const uint16_t* a, const uint16_t* b, uint16_t* out, int count) {
  for (int i = 0; i < count; ++i) {
    __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]);
    __half2 pair = __halves2half2(x, y) * __halves2half2(y, x) - __half2half2(x);
    const uint16_t row[] = {
        __half_as_ushort(x + y),
        __half_as_ushort(__hsub(x, y)),
        __half_as_ushort(x * y),
        __half_as_ushort(x / y),
        __half_as_ushort(__float2half(__half2float(x))),
        __half_as_ushort(__habs(-x)),
        (uint16_t)((x < y) | (x == y) << 1 | __hltu(x, y) << 2 | __hne(x, y) << 3 | __hneu(x, y) << 4),
        __half_as_ushort(__high2half(pair)),
    };
    __builtin_memcpy(out + 8 * i, row, sizeof(row));
  }
}

#include <hip/hip_fp4.h>
#include <hip/hip_fp6.h>

// The 6 and 4-bit formats: 0 is E3M2, 1 is E2M3, 2 is E2M1.
extern "C" void encode_small(const double* in, uint8_t* out, int count, int format, int rounding) {
  for (int i = 0; i < count; ++i) {
    out[i] = format < 2 ? __hip_cvt_double_to_fp6(in[i], (__hip_fp6_interpretation_t)format, (hipRoundMode)rounding)
                        : __hip_cvt_double_to_fp4(in[i], __HIP_E2M1, (hipRoundMode)rounding);
  }
}
extern "C" void decode_small(float* out, int format) {
  for (int i = 0; i < 64; ++i) {
    if (format == 2) out[i] = (float)__half(__hip_cvt_fp4_to_halfraw((uint8_t)(i & 15), __HIP_E2M1));
    else out[i] = (float)__half(__hip_cvt_fp6_to_halfraw((uint8_t)i, (__hip_fp6_interpretation_t)format));
  }
}
