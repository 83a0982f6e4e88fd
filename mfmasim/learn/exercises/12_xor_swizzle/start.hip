// exercise: xor_swizzle
// C = A B: A 32x64, B 64x32 f16, C 32x32 f32, row-major, one wave. A goes through 4096 bytes of LDS, in chunks of 16
// bytes: eight to a row, so that 32 lanes that read one column of chunks meet in few banks.
#include <hip/hip_runtime.h>

typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

extern __shared__ f16x8 tile[];  // 32 rows of 8 chunks: 4096 bytes, the launch brings no more

// Where chunk `column` of a row is.
__device__ unsigned place(unsigned row, unsigned column) {
    return 8 * row + column;  // fix this line: another order of the chunks in each row
}

extern "C" __global__ void __launch_bounds__(64)
xor_swizzle(const _Float16* A, const _Float16* B, float* C) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;

    for (unsigned i = 0; i < 4; i++) {
        const unsigned n = 64 * i + threadIdx.x;
        tile[place(n / 8, n % 8)] = *reinterpret_cast<const f16x8*>(A + 8 * n);
    }
    __syncthreads();

    f32x16 d = {};
    for (unsigned step = 0; step < 4; step++) {  // 16 k each: this lane holds 8
        const f16x8 a = tile[place(line, 2 * step + half)];
        f16x8 b;
        for (unsigned i = 0; i < 8; i++) {
            b[i] = B[32 * (16 * step + 8 * half + i) + line];
        }
        d = __builtin_amdgcn_mfma_f32_32x32x16_f16(a, b, d, 0, 0, 0);
    }

    for (unsigned r = 0; r < 16; r++) {
        C[32 * (8 * (r / 4) + 4 * half + r % 4) + line] = d[r];
    }
}
