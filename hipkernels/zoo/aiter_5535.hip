// FP8 attention: numerators of the softmax are cast to E4M3 as they are, and small ones become 0, but not in the sum.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *scores, float *y) {
  int t = threadIdx.x;
  float scale = FIXED ? 448.0f : 1.0f, p = exp2f(1.44269504f * scores[t]), sum = p;
  for (int d = 32; d > 0; d /= 2) sum += __shfl_xor(sum, d);
  int packed = __builtin_amdgcn_cvt_pk_fp8_f32(p * scale, 0.0f, 0, false);  // here
  float kept = __builtin_amdgcn_cvt_f32_fp8(packed, 0);
  for (int d = 32; d > 0; d /= 2) kept += __shfl_xor(kept, d);
  if (t == 0) y[0] = kept / (scale * sum);  // an attention over values of 1
}
BOTH_OF(64, (const float *scores, float *y), scores, y)
