// exercise: small_gemm
// C = A B: A MxK, B KxN f16, C MxN f32, row-major; M and N multiples of 64, K of 16. A workgroup of four waves computes
// 64x64 of C at row 64 blockIdx.y, column 64 blockIdx.x; wave w the 32x32 part at row 32 (w / 2), column 32 (w % 2).
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

extern "C" __global__ void __launch_bounds__(256)
small_gemm(const _Float16* A, const _Float16* B, float* C, unsigned M, unsigned N, unsigned K) {
    __shared__ _Float16 rows[64][20];     // of A: 16 k, and 4 for the banks
    __shared__ _Float16 columns[64][20];  // of B
    const unsigned t = threadIdx.x, line = t % 32, half = t / 32 % 2;
    const unsigned row = 32 * (t / 128), column = 32 * (t / 64 % 2);
    A += 64 * blockIdx.y * K;
    B += 64 * blockIdx.x;
    C += 64 * blockIdx.y * N + 64 * blockIdx.x;

    f32x16 d = {};
    for (unsigned k0 = 0; k0 < K; k0 += 16) {
        // your code: this thread brings four elements of A and four of B

        for (unsigned step = 0; step < 16; step += 8) {
            const f16x4 x = {}, y = {};  // your code: the lane's four elements of each operand
            d = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, d, 0, 0, 0);
        }
    }

    for (unsigned r = 0; r < 16; r++) {
        C[(row + r) * N + column + line] = d[r];  // fix the row
    }
}
