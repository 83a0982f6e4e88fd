// exercise: rows_of_d
// C = A B with one v_mfma_f32_32x32x2_f32: A 32x2, B 2x32, C 32x32, all f32 and row-major, one wave.
#include <hip/hip_runtime.h>

typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(64)
rows_of_d(const float* A, const float* B, float* C) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;

    f32x16 d = {};
    d = __builtin_amdgcn_mfma_f32_32x32x2f32(A[2 * line + half], B[32 * half + line], d, 0, 0, 0);

    for (unsigned r = 0; r < 16; r++) {
        const unsigned row = 16 * half + r;  // fix this line: which row of C is register r?
        C[32 * row + line] = d[r];
    }
}
