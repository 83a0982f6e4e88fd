// Fragments that are read from the LDS at the end of a turn, and used by the matrix instruction of the next without a wait.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ __attribute__((aligned(16))) _Float16 tile[1024];
  unsigned t = threadIdx.x, line = t % 16, group = t / 16;
  for (unsigned i = t; i < 512; i += 64) tile[i] = A[i], tile[512 + i] = B[i];
  __syncthreads();
  f32x4 c = {};
  for (unsigned turn = 0; turn < 2; turn++) {
    unsigned at = 2 * (32 * line + 16 * turn + 4 * group);
    f16x4 a, b;
    asm volatile("ds_read_b64 %0, %2\n ds_read_b64 %1, %2 offset:1024" : "=&v"(a), "=&v"(b) : "v"(at), "s"(tile) : "memory");
    if (FIXED) asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(a), "+v"(b)::"memory");
    c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);  // here
  }
  for (unsigned r = 0; r < 4; r++) C[16 * (4 * group + r) + line] = c[r];
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
