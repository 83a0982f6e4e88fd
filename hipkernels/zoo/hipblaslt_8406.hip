// Two slots of the LDS: the tail of K is written to one slot and read from the other.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ __attribute__((aligned(16))) _Float16 slot[2][512];
  unsigned t = threadIdx.x, line = t % 16, half = t / 16;
  f32x8 c = {};
  for (unsigned turn = 0; turn < 2; turn++) {  // the second one is the tail
    for (unsigned i = t; i < 512; i += 32) slot[turn][i] = A[64 * (i / 32) + 32 * turn + i % 32];
    __syncthreads();
    const _Float16 *from = slot[FIXED ? turn : 0];
    f16x16 a, b;
    for (unsigned k = 0; k < 16; k++) {
      unsigned at = 16 * (k / 8) + 8 * half + k % 8;
      a[k] = from[32 * line + at], b[k] = B[64 * line + 32 * turn + at];
    }
    c = __builtin_amdgcn_wmma_f32_16x16x32_f16(0, a, 0, b, 0, c, false, false);  // here
  }
  for (unsigned r = 0; r < 8; r++) C[16 * (8 * half + r) + line] = c[r];
}
BOTH_OF(32, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
