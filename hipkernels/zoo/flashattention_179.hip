// Backward attention with no queries: the pipeline ends early, and accumulators that nothing set are stored as gradients.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *q, float *gradient, int queries) {
  float sum;
  if (FIXED) sum = 0;
  else asm volatile("" : "=v"(sum));
  if (queries > 0) sum = 0;
  for (int i = 0; i < queries; i++) sum += q[64 * i + threadIdx.x];
  gradient[threadIdx.x] = sum;  // here
}
BOTH_OF(64, (const float *q, float *gradient, int queries), q, gradient, queries)
