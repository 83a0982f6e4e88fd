// exercise: wmma_rdna4
// C = A B with one v_wmma_f32_16x16x16_f16 of RDNA4: A and B 16x16 f16, C 16x16 f32, row-major, one wave of 32 lanes.
#include <hip/hip_runtime.h>

typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef float f32x8 __attribute__((ext_vector_type(8)));

extern "C" __global__ void __launch_bounds__(32)
wmma_rdna4(const _Float16* A, const _Float16* B, float* C) {
    const unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;

    f16x8 a, b;
    for (unsigned i = 0; i < 8; i++) {
        const unsigned k = i;  // fix this line: RDNA4 repeats nothing
        a[i] = A[16 * line + k];
        b[i] = B[16 * k + line];
    }

    f32x8 d = {};
    d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, d);

    for (unsigned r = 0; r < 8; r++) {
        C[16 * (2 * r + half) + line] = d[r];  // fix this line: the rows are RDNA3's
    }
}
