// exercise: k_of_16x16x16
// C = A B with one v_mfma_f32_16x16x16_f16: A and B 16x16 f16, C 16x16 f32, all row-major, one wave.
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));

extern "C" __global__ void __launch_bounds__(64)
k_of_16x16x16(const _Float16* A, const _Float16* B, float* C) {
    const unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;

    const f16x4 a = *reinterpret_cast<const f16x4*>(A + 16 * line + 4 * group);
    f16x4 b;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned k = group + 4 * i;  // fix this line: which k is element i of this lane?
        b[i] = B[16 * k + line];
    }

    f32x4 d = {};
    d = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, d, 0, 0, 0);

    for (unsigned r = 0; r < 4; r++) {
        C[16 * (4 * group + r) + line] = d[r];
    }
}
