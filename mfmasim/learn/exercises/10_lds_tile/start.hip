// exercise: lds_tile
// C = A B: A 64x16, B 16x64 f16, C 64x64 f32, row-major. Four waves share both tiles through the LDS; wave w computes
// the 32x32 part at row 32 (w / 2), column 32 (w % 2).
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(256)
lds_tile(const _Float16* A, const _Float16* B, float* C) {
    __shared__ _Float16 rows[64][16];     // of A
    __shared__ _Float16 columns[64][16];  // of B
    const unsigned t = threadIdx.x, line = t % 32, half = t / 32 % 2;
    const unsigned row = 32 * (t / 128), column = 32 * (t / 64 % 2);

    for (unsigned i = 0; i < 4; i++) {
        const unsigned n = 4 * t + i;  // thread t brings elements 4 t .. 4 t + 3 of each tile
        rows[n / 16][n % 16] = A[n];
        columns[n % 64][n / 64] = B[n];
    }
    // your code: one line is missing

    f32x16 d = {};
    for (unsigned k = 0; k < 16; k += 8) {
        const f16x4 a = *reinterpret_cast<const f16x4*>(&rows[row + line][k + 4 * half]);
        const f16x4 b = *reinterpret_cast<const f16x4*>(&columns[column + line][k + 4 * half]);
        d = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, d, 0, 0, 0);
    }

    for (unsigned r = 0; r < 16; r++) {
        C[64 * (row + 8 * (r / 4) + 4 * half + r % 4) + column + line] = d[r];
    }
}
