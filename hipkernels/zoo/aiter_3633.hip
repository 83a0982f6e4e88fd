// Attention with heads of 192: a wait for the LDS lets one read more be in flight than the next product allows.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const _Float16 *A, const _Float16 *B, float *C) {
  __shared__ __attribute__((aligned(16))) _Float16 tile[1024];
  unsigned t = threadIdx.x, line = t % 16, group = t / 16;
  *(f16x8 *)(tile + 8 * t) = *(const f16x8 *)(A + 8 * t);
  *(f16x8 *)(tile + 512 + 8 * t) = *(const f16x8 *)(B + 8 * t);
  __syncthreads();
  unsigned at = 2 * (32 * line + 8 * group);
  f16x8 a, b;
  unsigned next;
#define READS "ds_read_b128 %0, %3\n ds_read_b128 %1, %3 offset:1024\n ds_read_b32 %2, %3\n"
  if (FIXED) asm volatile(READS "s_waitcnt lgkmcnt(1)" : "=&v"(a), "=&v"(b), "=&v"(next) : "v"(at), "s"(tile) : "memory");
  else asm volatile(READS "s_waitcnt lgkmcnt(2)" : "=&v"(a), "=&v"(b), "=&v"(next) : "v"(at), "s"(tile) : "memory");
  f32x4 c = __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, f32x4{}, 0, 0, 0);  // here
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(next)::"memory");
  for (unsigned r = 0; r < 4; r++) C[16 * (4 * group + r) + line] = c[r] + 0 * (float)(next & 0);
}
BOTH_OF(64, (const _Float16 *A, const _Float16 *B, float *C), A, B, C)
