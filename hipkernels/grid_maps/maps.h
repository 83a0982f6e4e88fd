// Which tile of C a workgroup computes: maps from its number to (row, column) of the grid of tiles.
//
// Workgroups go to the XCDs (dies) in turn: number i runs on XCD i % xcds. A map is right when every tile is computed
// by one workgroup; it is good when the tiles of one XCD share rows of A and columns of B, which its L2 then keeps.
// NumPy twins of all maps are in mfmasim/grids.
#pragma once
#include <hip/hip_runtime.h>

struct Tile {
  int row, col;
};

struct Grid {
  int rows, cols, xcds, window, chunk;
};

#define MAP __device__ __forceinline__ Tile

// --- Right ones.

MAP map_row(int id, Grid g) { return {id / g.cols, id % g.cols}; }

MAP map_column(int id, Grid g) { return {id % g.rows, id / g.rows}; }

// Row by row, every other row backwards.
MAP map_snake(int id, Grid g) {
  int row = id / g.cols, col = id % g.cols;
  return {row, row & 1 ? g.cols - 1 - col : col};
}

// Bands of `window` rows, each column by column; the last band may have fewer rows.
MAP map_grouped(int id, Grid g) {
  int band = id / (g.window * g.cols), place = id % (g.window * g.cols), first = band * g.window;
  int high = min(g.rows - first, g.window);
  return {first + place % high, place / high};
}

// Squares of `window` x `window` tiles, cut off at the edges: square by square down a strip of columns, and column by
// column in a square.
MAP map_chunked(int id, Grid g) {
  int strip = id / (g.window * g.rows), place = id % (g.window * g.rows), left = strip * g.window;
  int wide = min(g.cols - left, g.window), square = place / (g.window * wide), top = square * g.window;
  int high = min(g.rows - top, g.window), inside = place - top * wide;
  return {top + inside % high, left + inside / high};
}

// `chunk` consecutive numbers for each XCD. What is left over of the last block of xcds * chunk stays where it is.
__device__ __forceinline__ int remap_xcd(int id, Grid g) {
  int block = g.xcds * g.chunk, limit = g.rows * g.cols / block * block, local = id / g.xcds;
  return id >= limit ? id : local / g.chunk * block + id % g.xcds * g.chunk + local % g.chunk;
}

MAP map_xcd(int id, Grid g) { return map_row(remap_xcd(id, g), g); }
MAP map_xcd_grouped(int id, Grid g) { return map_grouped(remap_xcd(id, g), g); }

// One share of consecutive numbers for each XCD, for the first count % xcds XCDs one number more.
__device__ __forceinline__ int remap_shares(int id, int count, int xcds) {
  int xcd = id % xcds;
  return xcd * (count / xcds) + min(xcd, count % xcds) + id / xcds;
}

MAP map_shares(int id, Grid g) { return map_row(remap_shares(id, g.rows * g.cols, g.xcds), g); }
MAP map_shares_grouped(int id, Grid g) { return map_grouped(remap_shares(id, g.rows * g.cols, g.xcds), g); }

// Bands of any heights, each column by column: the experts of a grouped GEMM. band_of: the band of each row; first: the first
// row of each band, and behind the last one the number of rows.
MAP map_banded(int id, int cols, const int *band_of, const int *first) {
  int band = band_of[id / cols], top = first[band], high = first[band + 1] - top, place = id - top * cols;
  return {top + place % high, place / high};
}

// Place number `id` of Hilbert's curve through a square whose side is a power of two.
MAP hilbert(int id, int side) {
  int row = 0, col = 0;
  for (int half = 1; half < side; half *= 2, id /= 4) {
    int quarter = id & 3, old = row;
    if (quarter == 0) {
      row = col;
      col = old;
    } else if (quarter == 3) {
      row = half - 1 - col;
      col = 2 * half - 1 - old;
    } else {
      row += half;
      col += quarter == 2 ? half : 0;
    }
  }
  return {row, col};
}

// Hilbert's curve through the largest square that fits; then what lies right of it and what lies below, row by row.
MAP map_hilbert(int id, Grid g) {
  int side = 1 << (31 - __builtin_clz(min(g.rows, g.cols))), wide = g.cols - side, rest = id - side * side;
  if (rest < 0) return hilbert(id, side);
  if (rest < side * wide) return {rest / wide, side + rest % wide};
  rest -= side * wide;
  return {side + rest / g.cols, rest % g.cols};
}

// --- Wrong ones, as published: some tiles are computed twice and others never.

// One share of the numbers for each XCD, without what the division leaves over: right only if it leaves nothing.
MAP map_xcd_divided(int id, Grid g) { return map_row(id % g.xcds * (g.rows * g.cols / g.xcds) + id / g.xcds, g); }

__device__ __forceinline__ Tile clamped(Tile t, Grid g) { return {min(t.row, g.rows - 1), min(t.col, g.cols - 1)}; }

// Squares as if the grid were made of whole ones; what lies outside is moved to the edge, where others are already.
MAP map_chunked_clamped(int id, Grid g) {
  int area = g.window * g.window, square = id / area, inside = id % area, across = (g.cols + g.window - 1) / g.window;
  Tile t = {square / across * g.window + inside % g.window, square % across * g.window + inside / g.window};
  return clamped(t, g);
}

// The same with squares that follow each other down the columns.
MAP map_super_clamped(int id, Grid g) {
  int area = g.window * g.window, square = id / area, inside = id % area, down = (g.rows + g.window - 1) / g.window;
  Tile t = {square % down * g.window + inside % g.window, square / down * g.window + inside / g.window};
  return clamped(t, g);
}

// Every XCD counts its own numbers from 0 and forgets which XCD it is.
MAP map_xcd_forgotten(int id, Grid g) {
  int share = (g.rows * g.cols + g.xcds - 1) / g.xcds;
  int local = g.xcds > 1 ? (id / (g.chunk * g.xcds) * g.chunk + id % g.chunk) % share : id;
  int band = local / (g.window * g.cols), place = local % (g.window * g.cols);
  return clamped({band * g.window + place % g.window, place / g.window}, g);
}
