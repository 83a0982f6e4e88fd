// exercise: triton_layout
// C = A B as Triton computes it: A 64x8, B 8x64 f16, C 64x64 f32, row-major, four waves; C's registers have the layout
// that Triton calls amd_mfma with instrShape = [32, 32, 8], warpsPerCTA = [2, 2], isTransposed = true.
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

struct Place {
    unsigned row, column;
};

// The element of C in a register, from the layout as Triton prints it:
//   register = [[0, 1], [0, 2], [0, 8], [0, 16]]
//   lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]]
//   warp = [[0, 32], [32, 0]]
__device__ Place place(unsigned reg, unsigned lane, unsigned warp) {
    return {reg + 16 * (lane / 32) + 32 * (warp / 2), lane % 32 + 32 * (warp % 2)};  // fix this line
}

extern "C" __global__ void __launch_bounds__(256)
triton_layout(const _Float16* A, const _Float16* B, float* C) {
    const unsigned lane = threadIdx.x % 64, warp = threadIdx.x / 64;
    const unsigned line = lane % 32, k = 4 * (lane / 32);

    const f16x4 a = *reinterpret_cast<const f16x4*>(A + 8 * (32 * (warp / 2) + line) + k);
    f16x4 b;
    for (unsigned i = 0; i < 4; i++) {
        b[i] = B[64 * (k + i) + 32 * (warp % 2) + line];
    }
    // isTransposed: the operands change places, and D is the transpose of this wave's part of C.
    f32x16 d = {};
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, d, 0, 0, 0);

    for (unsigned r = 0; r < 16; r++) {
        const Place at = place(r, lane, warp);
        C[64 * at.row + at.column] = d[r];
    }
}
