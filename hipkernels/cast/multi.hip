// Cast and transpose of many tensors in one launch: each has a range of workgroups, one for each tile; a workgroup finds
// its tensor by binary search. Tiles are those of transpose.h; at the edges of a tensor they are cut.
#include "transpose.h"

constexpr int MOST = 256, LOAD_ELEMENTS = 4, STORE = 4;

struct tensors {
  const void *in[MOST];
  uint8_t *out[MOST], *across[MOST];
  const float *scale[MOST];
  float *amax[MOST], *scale_inv[MOST];
  int rows[MOST], cols[MOST];
  int first[MOST + 1];  // first workgroup of each tensor; then the number of all
  int count;
};

// The last tensor that begins at this workgroup or before: of several that begin at one, only the last has elements.
MFMASIM_DEVICE int tensor_of(const tensors &all, int block) {
  int low = 0, high = all.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (all.first[middle] <= block) low = middle;
    else high = middle;
  }
  return low;
}

template <typename From, target To>
__device__ void multi(const tensors &all, const float *noop) {
  if (skipped(noop)) return;
  __shared__ passage<STORE, 1> tile;
  const int block = blockIdx.x;
  if (block == 0)  // of tensors without elements too
    for (int each = threadIdx.x; each < all.count; each += TILE_THREADS)
      all.scale_inv[each][0] = 1.0f / all.scale[each][0];
  if (block >= all.first[all.count]) return;
  const int mine = tensor_of(all, block), place = block - all.first[mine];
  const int64_t rows = all.rows[mine], cols = all.cols[mine];
  const int tiles_down = (rows + SIDE * STORE - 1) / (SIDE * STORE);
  const int64_t top = (int64_t)(place % tiles_down) * SIDE * STORE;
  const int64_t left = (int64_t)(place / tiles_down) * SIDE * LOAD_ELEMENTS;
  const int highest = turn<From, LOAD_ELEMENTS * sizeof(From), STORE, To, 1, true>(
      tile, (const From *)all.in[mine], all.out[mine], all.across[mine], all.scale[mine][0], rows, cols, top, left);
  collect_amax<TILE_THREADS>(highest, all.amax[mine]);
}

#define MULTI(from, to)                                                                                        \
  extern "C" __global__ void __launch_bounds__(TILE_THREADS) multi_##from##_##to(tensors all, const float *noop) { \
    multi<from, to>(all, noop);                                                                                \
  }
#define EVERY(from) MULTI(from, e4m3) MULTI(from, e5m2)
EVERY(f32)
EVERY(f16)
EVERY(bf16)
