// Tiles of C in the order of Hilbert's curve: a grid of one dimension, so that workgroups that follow each other share
// rows of A or columns of B.
#pragma once
#include "../grid_maps/maps.h"
#include "product.h"

struct AlongHilbert : Gemm {};
template <class Block>
__device__ Corner corner_of(const AlongHilbert &g) {
  const Grid tiles = {(g.M + Block::rows - 1) / Block::rows, (g.N + Block::columns - 1) / Block::columns, 1, 1, 1};
  const Tile tile = map_hilbert(blockIdx.x, tiles);
  return {tile.row * Block::rows, tile.col * Block::columns};
}
