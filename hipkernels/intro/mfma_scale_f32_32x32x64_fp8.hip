// C = (A * scale_A) (B * scale_B) with one v_mfma_scale_f32_32x32x64_f8f6f4 on FP8 (E4M3) operands, gfx950.
// A 32x64, B 64x32, C 32x32 f32, row-major, one wave. One E8M0 scale per row of A (column of B) and 32 k;
// scales come four to a dword, and OPSEL picks the byte.
#include <hip/hip_runtime.h>

typedef unsigned char byte;
typedef byte byte32 __attribute__((ext_vector_type(32)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

template <int Opsel>
__device__ inline void multiply(const byte* A, const byte* B, const int* SA, const int* SB, float* C) {
    const unsigned line = threadIdx.x % 32;   // row of A, column of B
    const unsigned half = threadIdx.x / 32;

    // The first 16 bytes of a lane hold k 16 half .. +15, the last 16 hold k 32 + 16 half .. +15.
    byte32 a, b;
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned i = 0; i < 16; i++) {
            const unsigned k = 32 * part + 16 * half + i;
            a[16 * part + i] = A[64 * line + k];
            b[16 * part + i] = B[32 * k + line];
        }
    }
    // The scale lane is not the data lane: lane l brings the scale of row l % 32 and K block l / 32.
    const int sa = SA[2 * line + half];
    const int sb = SB[32 * half + line];

    f32x16 c = {};
    c = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(__builtin_bit_cast(i32x8, a), __builtin_bit_cast(i32x8, b), c,
                                                        0, 0, Opsel, sa, Opsel, sb);
    for (unsigned r = 0; r < 16; r++) {
        const unsigned row = 8 * (r / 4) + 4 * half + r % 4;
        C[32 * row + line] = c[r];
    }
}

#define KERNEL(opsel)                                                                                           \
    extern "C" __global__ void __launch_bounds__(64)                                                            \
    mfma_scale_f32_32x32x64_fp8_opsel##opsel(const byte* A, const byte* B, const int* SA, const int* SB,        \
                                             float* C) {                                                        \
        multiply<opsel>(A, B, SA, SB, C);                                                                       \
    }

KERNEL(0)
KERNEL(1)
KERNEL(2)
KERNEL(3)
