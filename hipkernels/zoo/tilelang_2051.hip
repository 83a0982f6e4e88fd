// Copies of 16 bytes to the LDS: the base of the resource goes back 4 bytes a work-item, where 16 are added as an offset.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ __attribute__((aligned(16))) _Float16 tile[1024];  // 16 rows, 64 columns, by two waves
  unsigned t = threadIdx.x, lane = t % 64, line = lane % 16, group = lane / 16;
  unsigned long long base = (unsigned long long)A + 16 * t - (FIXED ? 16 : 4) * t;
  int low = __builtin_amdgcn_readfirstlane((unsigned)base), high = __builtin_amdgcn_readfirstlane((unsigned)(base >> 32));
  unsigned to = __builtin_amdgcn_readfirstlane(1024 * (t / 64));
  i32x4 resource = {low, high, -1, 0x00027000};
  asm volatile("s_mov_b32 m0, %2\n s_nop 1\n buffer_load_dwordx4 %0, %1, 0 offen lds\n s_waitcnt vmcnt(0)" ::"v"(16 * t), "s"(resource), "s"(to) : "memory");  // here
  __syncthreads();
  f32x4 c = {};
  for (unsigned k = 0; k < 64; k += 32) {
    f16x8 a = *(f16x8 *)(tile + 64 * line + k + 8 * group);
    f16x8 b = *(const f16x8 *)(B + 64 * (16 * (t / 64) + line) + k + 8 * group);
    c = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
  }
  for (unsigned r = 0; r < 4; r++) C[32 * (4 * group + r) + 16 * (t / 64) + line] = c[r];
}
BOTH_OF(128, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
