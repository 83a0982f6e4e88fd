// exercise: block_scales
// C = (A * scale_A) (B * scale_B) with one v_mfma_scale_f32_32x32x64_f8f6f4 on FP8 (E4M3): A 32x64, B 64x32, C 32x32
// f32. scale_A 32x2 and scale_B 2x32 are E8M0, one for each 32 k of a row of A (a column of B). Row-major, one wave.
#include <hip/hip_runtime.h>

typedef unsigned char byte;
typedef byte byte32 __attribute__((ext_vector_type(32)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(64)
block_scales(const byte* A, const byte* B, const byte* scale_A, const byte* scale_B, float* C) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;

    // The data: bytes 0 to 15 of a lane are k 16 half .., bytes 16 to 31 are k 32 + 16 half ..
    byte32 a, b;
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned i = 0; i < 16; i++) {
            const unsigned k = 32 * part + 16 * half + i;
            a[16 * part + i] = A[64 * line + k];
            b[16 * part + i] = B[32 * k + line];
        }
    }
    // The scales: one byte a lane. Fix both lines: which block's scale does this lane bring?
    const int sa = scale_A[2 * line];
    const int sb = scale_B[line];

    f32x16 d = {};
    d = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(__builtin_bit_cast(i32x8, a), __builtin_bit_cast(i32x8, b), d,
                                                        0, 0, 0, sa, 0, sb);

    for (unsigned r = 0; r < 16; r++) {
        C[32 * (8 * (r / 4) + 4 * half + r % 4) + line] = d[r];
    }
}
