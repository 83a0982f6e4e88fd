// For few rows, a thread for each column, without the LDS: rejected, as too few workgroups have work.
//
// A thread reads its column downwards, eight elements at a time, and stores them as one word of the transposed matrix. The
// rows are divided between the workgroups of one column of the grid.
#include "transpose.h"

constexpr int EIGHT = 8;

template <typename From, target To>
__device__ void thin(const From *in, uint8_t *out, uint8_t *across, const float *noop, const float *scale, float *amax,
                     float *scale_inv, int64_t rows, int64_t cols, int64_t first_row, int64_t first_col, int64_t high,
                     int64_t wide) {
  if (skipped(noop)) return;
  const float factor = scale[0];
  const int64_t mine = (int64_t)blockIdx.x * REST_THREADS + threadIdx.x, col = first_col + mine;
  int highest = 0;
  for (int64_t start = blockIdx.y * EIGHT; mine < wide && start < high; start += (int64_t)gridDim.y * EIGHT) {
    const int count = high - start < EIGHT ? (int)(high - start) : EIGHT;
    const int64_t row = first_row + start;
    float scaled[EIGHT] = {};
    for (int i = 0; i < count; ++i) {
      const float x = widen(in[(row + i) * cols + col]);
      highest = max(highest, magnitude(x));
      scaled[i] = x * factor;
    }
    const word<EIGHT> packed = pack<To, EIGHT>(scaled);
    for (int i = 0; i < count; ++i) out[(row + i) * cols + col] = (uint8_t)(packed >> 8 * i);
    if (count == EIGHT) __builtin_nontemporal_store(packed, (anywhere<EIGHT> *)(across + col * rows + row));
    else
      for (int i = 0; i < count; ++i) across[col * rows + row + i] = (uint8_t)(packed >> 8 * i);
  }
  collect_amax<REST_THREADS>(highest, amax);
  if (blockIdx.y == 0) define_scale_inv(factor, scale_inv);
}

#define THIN(from, to)                                                                                              \
  extern "C" __global__ void __launch_bounds__(REST_THREADS) thin_##from##_##to(                                    \
      const from *in, uint8_t *out, uint8_t *across, BESIDE, int64_t first_row, int64_t first_col, int64_t high,    \
      int64_t wide) {                                                                                               \
    thin<from, to>(in, out, across, noop, scale, amax, scale_inv, rows, cols, first_row, first_col, high, wide);    \
  }
THIN(f32, e4m3)
THIN(bf16, e4m3)
