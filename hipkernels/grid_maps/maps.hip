// Every map as two kernels: one that asks it for many grids at once, and one whose workgroups ask for themselves.
#include <hip/hip_runtime.h>

#include "maps.h"

#define KERNELS(name)                                                                                              \
  extern "C" __global__ void __launch_bounds__(256)                                                                \
      ask_##name(const int *ids, const int *rows, const int *cols, int *row, int *col, int count, int xcds,        \
                 int window, int chunk) {                                                                          \
    int t = blockIdx.x * 256 + threadIdx.x;                                                                        \
    if (t >= count) return;                                                                                        \
    Tile tile = map_##name(ids[t], {rows[t], cols[t], xcds, window, chunk});                                       \
    row[t] = tile.row;                                                                                             \
    col[t] = tile.col;                                                                                             \
  }                                                                                                                \
  extern "C" __global__ void __launch_bounds__(64)                                                                 \
      launch_##name(int *row, int *col, int rows, int cols, int xcds, int window, int chunk) {                     \
    Tile tile = map_##name(blockIdx.x, {rows, cols, xcds, window, chunk});                                         \
    row[blockIdx.x] = tile.row;                                                                                    \
    col[blockIdx.x] = tile.col;                                                                                    \
  }

KERNELS(row)
KERNELS(column)
KERNELS(snake)
KERNELS(grouped)
KERNELS(chunked)
KERNELS(xcd)
KERNELS(xcd_grouped)
KERNELS(shares)
KERNELS(shares_grouped)
KERNELS(hilbert)
KERNELS(xcd_divided)
KERNELS(chunked_clamped)
KERNELS(super_clamped)
KERNELS(xcd_forgotten)

// Experts: one share of consecutive numbers for each XCD, or the hardware's order if there is one XCD.
extern "C" __global__ void __launch_bounds__(64)
    launch_banded(int *row, int *col, const int *band_of, const int *first, int cols, int xcds) {
  Tile tile = map_banded(remap_shares(blockIdx.x, gridDim.x, xcds), cols, band_of, first);
  row[blockIdx.x] = tile.row;
  col[blockIdx.x] = tile.col;
}
