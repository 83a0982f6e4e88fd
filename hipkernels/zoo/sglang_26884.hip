// MXFP4 weights, preshuffled: the kernel reads AITER's 16x16 order, and was given that of gate and up tiles in turn.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned char *A, const unsigned char *B, float *C, int tiles) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  i32x8 a = {}, b = {};
  for (int i = 0; i < 4; i++) a[i] = *(const int *)(A + 64 * line + 16 * group + 4 * i);
  for (int tile = 0; tile < tiles; tile++) {
    const int *part = (const int *)(B + 1024 * tile + 256 * group + 16 * line);
    for (int i = 0; i < 4; i++) b[i] = part[i];
    f32x4 c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, f32x4{}, 4, 4, 0, 127, 0, 127);  // here
    for (int r = 0; r < 4; r++) C[16 * tiles * (4 * group + r) + 16 * tile + line] = c[r];
  }
}
BOTH_OF(64, (const unsigned char *A, const unsigned char *B, float *C, int tiles), A, B, C, tiles)
