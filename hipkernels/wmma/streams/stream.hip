// Stream-K in two kernels: `stream` in the contract of ../tiles.hip, `any_stream` of any shape; then `add_streams`.
#include "stream.h"

#define STREAM(NAME, LOAD)                                                                                          \
  extern "C" __global__ void __launch_bounds__(128)                                                                 \
      NAME(const f16 *A, const f16 *B, float *C, float *workspace, int M, int N, int K, int lda, int ldb, int ldc) { \
    stream<LOAD>(Gemm{A, B, C, M, N, K, lda, ldb, ldc}, workspace);                                                 \
  }
STREAM(stream_k, Whole)
STREAM(any_stream_k, Guarded)

// A workgroup for each tile; `workgroups` is how many the first kernel had.
extern "C" __global__ void __launch_bounds__(128) add_streams(const float *workspace, float *C, int M, int N, int K, int ldc,
                                                              int workgroups) {
  const Steps steps(M, N, K);
  const long long first = (long long)blockIdx.x * steps.depth, last = first + steps.depth;
  const int row = blockIdx.x / steps.across * SIDE, column = blockIdx.x % steps.across * SIDE;
  // The first workgroup that begins behind the tile's first step has a predecessor that has this step.
  int owner = ((first + 1) * workgroups - 1) / steps.total;
  if (steps.begin(owner, workgroups) <= first && steps.begin(owner + 1, workgroups) >= last) return;  // C has it
  for (int i = threadIdx.x; i < SIDE * SIDE; i += 128) {
    const int y = row + i / SIDE, x = column + i % SIDE;
    if (y >= M || x >= N) continue;
    float sum = 0;
    bool begun = false;
    for (int w = owner; w < workgroups && steps.begin(w, workgroups) < last; ++w) {
      const long long from = max(steps.begin(w, workgroups), first);
      if (from >= steps.begin(w + 1, workgroups)) continue;  // idle
      const float part = workspace[(size_t)(2 * w + (from == first)) * SIDE * SIDE + i];
      sum = begun ? sum + part : part;
      begun = true;
    }
    C[(size_t)y * ldc + x] = sum;
  }
}
