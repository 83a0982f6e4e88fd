// A vector is scaled in chunks: the pointer to alpha goes on with the chunks, too.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *alpha, float *x, int chunk, int stride) {
  int n = blockIdx.x * chunk;
  float factor = alpha[FIXED ? 0 : n * stride];  // here
  x[n + threadIdx.x] *= factor;
}
BOTH_OF(64, (const float *alpha, float *x, int chunk, int stride), alpha, x, chunk, stride)
