// Dot products of packed elements, added to a dword.
#include <hip/hip_runtime.h>

typedef _Float16 half2v __attribute__((ext_vector_type(2)));
typedef short short2v __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2v __attribute__((ext_vector_type(2)));

__device__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Four bytes, signed and unsigned: v_dot4_i32_i8 and v_dot4_u32_u8, or v_dot4_i32_iu8 with a sign per operand.
extern "C" __global__ void bytes(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned a = x[i], b = y[i];
#if defined(__GFX9__)
        out[i] = __builtin_amdgcn_sdot4(int(a), int(b), i, false);
#else
        out[i] = __builtin_amdgcn_sudot4(true, int(a), true, int(b), i, false);
#endif
        out[n + i] = __builtin_amdgcn_udot4(a, b, b, false);
        out[2 * n + i] = __builtin_amdgcn_udot4(a, b, 0xfffff000u, true);
    }
}

// Eight nibbles: v_dot8_i32_i4 and v_dot8_u32_u4, or v_dot8_i32_iu4.
extern "C" __global__ void nibbles(const unsigned* x, const unsigned* y, unsigned* out, int n) {
    const int i = global_id();
    if (i < n) {
        const unsigned a = x[i], b = y[i];
#if defined(__GFX9__)
        out[i] = __builtin_amdgcn_sdot8(int(a), int(b), i, false);
#else
        out[i] = __builtin_amdgcn_sudot8(true, int(a), true, int(b), i, false);
#endif
        out[n + i] = __builtin_amdgcn_udot8(a, b, a, false);
    }
}

// Two halves into single precision: v_dot2_f32_f16, on numbers whose products and sums are exact.
extern "C" __global__ void halves(const half2v* x, const half2v* y, const float* z, float* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_fdot2(x[i], y[i], z[i], false);
    }
}

#if defined(__GFX9__)
// Two 16-bit integers: v_dot2_i32_i16, v_dot2_u32_u16.
extern "C" __global__ void shorts(const short2v* x, const short2v* y, int* out, int n) {
    const int i = global_id();
    if (i < n) {
        out[i] = __builtin_amdgcn_sdot2(x[i], y[i], i, false);
        out[n + i] = int(__builtin_amdgcn_udot2(__builtin_bit_cast(ushort2v, x[i]), __builtin_bit_cast(ushort2v, y[i]),
                                                unsigned(i), false));
        out[2 * n + i] = __builtin_amdgcn_sdot2(x[i], y[i], 2000000000, true);
    }
}
#endif
