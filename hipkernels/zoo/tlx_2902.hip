// A masked copy straight to the LDS without a value for the masked lanes: their rows keep what the LDS held, 0 or NaN.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C, int M) {
  __shared__ __attribute__((aligned(16))) _Float16 tile[512];
  int t = threadIdx.x, line = t % 16, group = t / 16;
  if (FIXED) *(f32x4 *)(tile + 8 * t) = f32x4{};
  __syncthreads();
  if (t / 4 < M)
    asm volatile("s_mov_b32 m0, %1\n s_nop 1\n global_load_lds_dwordx4 %0, off" ::"v"(A + 8 * t), "s"(0) : "memory");
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  __syncthreads();
  f16x8 a = *(f16x8 *)(tile + 32 * line + 8 * group), b = *(const f16x8 *)(B + 32 * line + 8 * group);
  f32x4 c = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, f32x4{}, 0, 0, 0);  // here
  for (int r = 0; r < 4; r++)
    if (4 * group + r < M) C[16 * (4 * group + r) + line] = c[r];
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C, int M), A, B, C, M)
