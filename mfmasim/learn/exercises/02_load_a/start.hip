// exercise: load_a
// C = A B with one v_mfma_f32_32x32x2_f32: A 32x2, B 2x32, C 32x32, all f32 and row-major, one wave.
#include <hip/hip_runtime.h>

typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(64)
load_a(const float* A, const float* B, float* C) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;

    const float a = A[threadIdx.x];  // fix this line: which element of A does this lane hold?
    const float b = B[32 * half + line];

    f32x16 d = {};
    d = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, d, 0, 0, 0);

    for (unsigned r = 0; r < 16; r++) {
        C[32 * (8 * (r / 4) + 4 * half + r % 4) + line] = d[r];
    }
}
