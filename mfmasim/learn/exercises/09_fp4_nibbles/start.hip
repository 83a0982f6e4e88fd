// exercise: fp4_nibbles
// C = (A * scale_A) (B * scale_B) with one v_mfma_scale_f32_32x32x64_f8f6f4 on FP4 (E2M1): A 32x64, B 64x32, C 32x32
// f32. Two elements a byte, the even column in the low nibble. scale_A 32x2, scale_B 2x32. Row-major, one wave.
#include <hip/hip_runtime.h>

typedef unsigned char byte;
typedef byte byte16 __attribute__((ext_vector_type(16)));
typedef byte byte32 __attribute__((ext_vector_type(32)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

// Element B[k][column].
__device__ byte element(const byte* B, unsigned k, unsigned column) {
    const byte both = B[16 * k + column / 2];
    return column % 2 ? both >> 4 : both & 15;
}

extern "C" __global__ void __launch_bounds__(64)
fp4_nibbles(const byte* A, const byte* B, const byte* scale_A, const byte* scale_B, float* C) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;

    // 32 elements fill 16 bytes; the builtin takes 32 bytes, the instruction reads the first 16.
    byte32 a = {}, b = {};
    const byte16 row = *reinterpret_cast<const byte16*>(A + 32 * line + 16 * half);
    for (unsigned i = 0; i < 16; i++) {
        a[i] = row[i];
        const unsigned k = 32 * half + 2 * i;
        b[i] = B[16 * k + line / 2];  // fix this line: the byte holds two columns, not two k
    }

    f32x16 d = {};
    d = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(__builtin_bit_cast(i32x8, a), __builtin_bit_cast(i32x8, b), d,
                                                        4, 4, 0, scale_A[2 * line + half],
                                                        0, scale_B[32 * half + line]);

    for (unsigned r = 0; r < 16; r++) {
        C[32 * (8 * (r / 4) + 4 * half + r % 4) + line] = d[r];
    }
}
