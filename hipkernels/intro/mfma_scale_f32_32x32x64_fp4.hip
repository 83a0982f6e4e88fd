// C = (A * scale_A) (B * scale_B) with one v_mfma_scale_f32_32x32x64_f8f6f4 on FP4 (E2M1) operands, gfx950.
// A 32x64, B 64x32, both row-major with two elements a byte (the even column in the low nibble), C 32x32 f32, one
// wave. One E8M0 scale per row of A (column of B) and 32 k; scales come four to a dword, and OPSEL picks the byte.
#include <hip/hip_runtime.h>
#include <hip/hip_ext_ocp.h>

typedef unsigned char byte;
typedef byte byte16 __attribute__((ext_vector_type(16)));
typedef byte byte32 __attribute__((ext_vector_type(32)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

template <int Opsel>
__device__ inline void multiply(const byte* A, const byte* B, const int* SA, const int* SB, float* C) {
    const unsigned line = threadIdx.x % 32;   // row of A, column of B
    const unsigned half = threadIdx.x / 32;   // 32 consecutive k, which is one block

    // 32 FP4 elements fill 16 bytes; the builtin takes 32, the instruction reads only the first half.
    byte32 a = {}, b = {};
    const byte16 row = *reinterpret_cast<const byte16*>(A + 32 * line + 16 * half);
    for (unsigned i = 0; i < 16; i++) {
        a[i] = row[i];
        // Two neighbours in k stand in two rows of B.
        const unsigned k = 32 * half + 2 * i;
        const byte even = __amd_extract_fp4(B[16 * k + line / 2], line % 2);
        const byte odd = __amd_extract_fp4(B[16 * (k + 1) + line / 2], line % 2);
        b[i] = __amd_create_fp4x2(even, odd);
    }
    const int sa = SA[2 * line + half];
    const int sb = SB[32 * half + line];

    f32x16 c = {};
    c = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(__builtin_bit_cast(i32x8, a), __builtin_bit_cast(i32x8, b), c,
                                                        4, 4, Opsel, sa, Opsel, sb);
    for (unsigned r = 0; r < 16; r++) {
        const unsigned crow = 8 * (r / 4) + 4 * half + r % 4;
        C[32 * crow + line] = c[r];
    }
}

#define KERNEL(opsel)                                                                                           \
    extern "C" __global__ void __launch_bounds__(64)                                                            \
    mfma_scale_f32_32x32x64_fp4_opsel##opsel(const byte* A, const byte* B, const int* SA, const int* SB,        \
                                             float* C) {                                                        \
        multiply<opsel>(A, B, SA, SB, C);                                                                       \
    }

KERNEL(0)
KERNEL(1)
KERNEL(2)
KERNEL(3)
