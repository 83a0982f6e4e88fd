// C = A B with one v_mfma_f32_32x32x2_f32: A 32x2, B 2x32, C 32x32, all f32 and row-major, one wave.
#include <hip/hip_runtime.h>

typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(64)
mfma_f32_32x32x2_f32(const float* A, const float* B, float* C) {
    const unsigned line = threadIdx.x % 32;   // row of A, column of B
    const unsigned half = threadIdx.x / 32;   // k

    const float a = A[2 * line + half];
    const float b = B[32 * half + line];

    f32x16 c = {};
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);

    // Register r holds row 8 (r / 4) + 4 half + r % 4.
    for (unsigned r = 0; r < 16; r++) {
        const unsigned row = 8 * (r / 4) + 4 * half + r % 4;
        C[32 * row + line] = c[r];
    }
}
