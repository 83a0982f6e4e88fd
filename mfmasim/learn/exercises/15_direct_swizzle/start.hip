// exercise: direct_swizzle
// The product of xor_swizzle, whose tile is filled by loads straight to the LDS: 16 bytes a lane, in lane order.
#include <hip/hip_runtime.h>
#include <mfmasim/order.h>

typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

extern __shared__ f16x8 tile[];  // 32 rows of 8 chunks: 4096 bytes, the launch brings no more

// Where chunk `column` of a row is.
__device__ unsigned place(unsigned row, unsigned column) {
    return 8 * row + (column ^ row / 2 % 8);
}

// Chunk n of A, in the order of memory, to chunk `base` + lane of the tile.
__device__ void fetch(const _Float16* A, unsigned n, unsigned base) {
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(A + 8 * n),
                                     (mfmasim_lds_void*)(tile + base), 16, 0, 0);
}

extern "C" __global__ void __launch_bounds__(64)
direct_swizzle(const _Float16* A, const _Float16* B, float* C) {
    const unsigned lane = threadIdx.x, line = lane % 32, half = lane / 32;

    for (unsigned i = 0; i < 4; i++) {
        const unsigned p = 64 * i + lane;  // the place that this lane fills
        const unsigned row = p / 8, column = p % 8;
        fetch(A, 8 * row + column, 64 * i);  // fix this line: which chunk of A belongs into place p?
    }
    WAIT_DIRECT(0);
    BARRIER();

    f32x16 d = {};
    for (unsigned step = 0; step < 4; step++) {
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
