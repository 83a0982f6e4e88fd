// exercise: wmma_rdna3
// C = A B with one v_wmma_f32_16x16x16_f16 of RDNA3: A and B 16x16 f16, C 16x16 f32, row-major, one wave of 32 lanes.
#include <hip/hip_runtime.h>

typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

extern "C" __global__ void __launch_bounds__(32)
wmma_rdna3(const _Float16* A, const _Float16* B, float* C) {
    const unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;

    f16x16 a, b;
    // Fix this: each half of the wave fills only half of its registers, as MFMA would need it.
    for (unsigned k = 0; k < 16; k++) a[k] = b[k] = 0;
    for (unsigned k = 8 * half; k < 8 * half + 8; k++) {
        a[k] = A[16 * line + k];
        b[k] = B[16 * k + line];
    }

    f32x8 d = {};
    d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, d);

    for (unsigned r = 0; r < 8; r++) {
        C[16 * (8 * half + r) + line] = d[r];  // fix the row, too
    }
}
