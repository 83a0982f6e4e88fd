// exercise: pack_f16
// C = A B with one v_mfma_f32_32x32x8_f16: A 32x8, B 8x32 f16, C 32x32 f32, all row-major, one wave.
#include <hip/hip_runtime.h>

typedef unsigned short half_bits;
typedef unsigned u32x2 __attribute__((ext_vector_type(2)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

// One register with two elements, that of the smaller k first.
__device__ unsigned pack(half_bits first, half_bits second) {
    return first;  // fix this line: where does `second` belong?
}

extern "C" __global__ void __launch_bounds__(64)
pack_f16(const half_bits* A, const half_bits* B, float* C) {
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;
    const unsigned k = 4 * half;  // this lane holds k, k + 1, k + 2, k + 3

    // Four neighbours in a row of A are already packed in memory.
    const u32x2 a = *reinterpret_cast<const u32x2*>(A + 8 * line + k);
    // Four neighbours in a column of B are 32 elements apart.
    u32x2 b;
    b[0] = pack(B[32 * k + line], B[32 * (k + 1) + line]);
    b[1] = pack(B[32 * (k + 2) + line], B[32 * (k + 3) + line]);

    f32x16 d = {};
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(f16x4, a), __builtin_bit_cast(f16x4, b), d, 0, 0, 0);

    for (unsigned r = 0; r < 16; r++) {
        C[32 * (8 * (r / 4) + 4 * half + r % 4) + line] = d[r];
    }
}
