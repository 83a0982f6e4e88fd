// C = A B with one v_mfma_f32_32x32x16_{fp8,bf8}_{fp8,bf8}: A 32x16, B 16x32, C 32x32 f32, row-major, one wave.
// FP8 is E4M3 and BF8 is E5M2: FNUZ on gfx942, OCP on gfx950.
#include <hip/hip_runtime.h>
#include <hip/hip_fp8.h>

typedef unsigned char byte;
typedef byte byte8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

struct Operands {
    long a, b;
};

__device__ inline Operands load(const byte* A, const byte* B) {
    const unsigned line = threadIdx.x % 32;   // row of A, column of B
    const unsigned group = threadIdx.x / 32;  // eight consecutive k

    const byte8 a = *reinterpret_cast<const byte8*>(A + 16 * line + 8 * group);
    byte8 b;
    for (unsigned i = 0; i < 8; i++) {
        b[i] = B[32 * (8 * group + i) + line];
    }
    return {__builtin_bit_cast(long, a), __builtin_bit_cast(long, b)};
}

__device__ inline void store(float* C, f32x16 c) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;
    for (unsigned r = 0; r < 16; r++) {
        const unsigned row = 8 * (r / 4) + 4 * half + r % 4;
        C[32 * row + line] = c[r];
    }
}

#define KERNEL(a_type, b_type)                                                                                  \
    extern "C" __global__ void __launch_bounds__(64)                                                            \
    mfma_f32_32x32x16_##a_type##_##b_type(const byte* A, const byte* B, float* C) {                             \
        const Operands x = load(A, B);                                                                          \
        f32x16 c = {};                                                                                          \
        c = __builtin_amdgcn_mfma_f32_32x32x16_##a_type##_##b_type(x.a, x.b, c, 0, 0, 0);                       \
        store(C, c);                                                                                            \
    }

KERNEL(fp8, fp8)
KERNEL(fp8, bf8)
KERNEL(bf8, fp8)
KERNEL(bf8, bf8)
