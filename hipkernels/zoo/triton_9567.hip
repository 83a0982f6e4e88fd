// The product is computed transposed, so that A and B change places, and the instruction was chosen for them unchanged.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned char *A, const unsigned char *B, float *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  long a = *(const long *)(A + 32 * line + 8 * group), b = *(const long *)(B + 32 * line + 8 * group);
  f32x4 c;
  if (FIXED) c = __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(b, a, f32x4{}, 0, 0, 0);
  else c = __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(b, a, f32x4{}, 0, 0, 0);  // here
  for (unsigned r = 0; r < 4; r++) C[16 * line + 4 * group + r] = c[r];
}
BOTH_OF(64, (const unsigned char *A, const unsigned char *B, float *C), A, B, C)
