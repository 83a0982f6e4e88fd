// Rungs on the way to tiles.hip, and ways that were tried beside it: each changes one thing.
#pragma once
#include "movers.h"

// Lines of 16 * TILES elements and one more: banks differ from line to line, but no line begins at 16 bytes, so that
// every access is of one element.
template <int TILES>
struct Odd {
  static constexpr int k = 16 * TILES;
  static constexpr bool wide = false;
  static constexpr int size(int lines) { return lines * (k + 1); }
  static __device__ int at(int, int line, int k_) { return line * (k + 1) + k_; }
};

// A piece of A goes to the LDS element by element.
template <class Block, class Place, class Load, class Who = Everybody<Block>>
struct SinglePieces : Pieces<Block, Place, Load, Who> {
  __device__ void store(f16 *a_lds, f16 *b_lds) const {
#pragma unroll
    for (int n = 0, i = Who::a(); n < this->a_each; ++n, i += Who::a_threads)
      if (i < this->a_count)
        for (int e = 0; e < 8; ++e)
          a_lds[Place::at(Block::rows, i / this->a_line, i % this->a_line * 8 + e)] = this->a[n][e];
    this->store_b(b_lds);
  }
};

// B is given transposed, N rows of K: its pieces are eight of K, as those of A are. g.ldb is the length of such a row.
template <class Block, class Place, class, class Who>
struct RowsOfB {
  static constexpr int b_line = Place::k / 8, b_count = Block::columns * b_line, threads = Who::b_threads;
  static constexpr int b_each = (b_count + threads - 1) / threads;
  f16x8 b[b_each];

  __device__ void fetch_b(const Gemm &g, int k, int column) {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads) {
      const int x = column + i / b_line, z = k + i % b_line * 8;
      if (i < b_count) b[n] = x < g.N ? *reinterpret_cast<const f16x8 *>(g.B + (size_t)x * g.ldb + z) : f16x8{};
    }
  }
  __device__ void store_b(f16 *b_lds) const {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
      if (i < b_count)
        *reinterpret_cast<f16x8 *>(b_lds + Place::at(Block::columns, i / b_line, i % b_line * 8)) = b[n];
  }
};

// Two slots, but the next tile goes through registers to the other slot before this one is multiplied: nothing is in
// flight during the products.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void two_slots(const Problem &g) {
  TILES_IN_LDS(2);
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  __syncthreads();  // first tile
  for (int k = 0, slot = 0; k < g.K; k += Place::k, slot ^= 1) {
    if (k + Place::k < g.K) {
      next.fetch_a(g, row, k + Place::k);
      next.fetch_b(g, k + Place::k, column);
      next.store(a_lds[slot ^ 1], b_lds[slot ^ 1]);
    }
    part.multiply_tile(a_lds[slot], b_lds[slot]);
    __syncthreads();  // next tile
  }
  finish(g, part, row, column);
}

// Three slots: tile t + 1 is stored and tile t + 2 fetched before tile t is multiplied. A wave that is a turn ahead stores to
// the slot that nobody reads, so that the one barrier of a turn only says that the next tile is there.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void three_slots(const Problem &g) {
  TILES_IN_LDS(3);
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  if (Place::k < g.K) {
    next.fetch_a(g, row, Place::k);
    next.fetch_b(g, Place::k, column);
  }
  for (int k = 0, slot = 0, other = 1; k < g.K; k += Place::k) {
    if (k + Place::k < g.K) next.store(a_lds[other], b_lds[other]);
    __syncthreads();  // this tile, and the next one
    if (k + 2 * Place::k < g.K) {
      next.fetch_a(g, row, k + 2 * Place::k);
      next.fetch_b(g, k + 2 * Place::k, column);
    }
    part.multiply_tile(a_lds[slot], b_lds[slot]);
    slot = other;
    other = other == 2 ? 0 : other + 1;
  }
  finish(g, part, row, column);
}

// As `ahead`; the fragments of the next 16 of K are read from the LDS before those that are there are multiplied.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void fragments_ahead(const Problem &g) {
  constexpr int steps = Place::k / 16;
  TILES_IN_LDS(2);
  fragment x[2][Block::tiles_m], y[2][Block::tiles_n];
  const auto read = [&](int slot, int step) {
#pragma unroll
    for (int i = 0; i < Block::tiles_m; ++i) x[step % 2][i] = part.a(a_lds[slot], i, 16 * step);
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j) y[step % 2][j] = part.b(b_lds[slot], j, 16 * step);
  };
  next.fetch_a(g, row, 0);
  next.fetch_b(g, 0, column);
  next.store(a_lds[0], b_lds[0]);
  __syncthreads();  // first tile
  for (int k = 0, slot = 0; k < g.K; k += Place::k, slot ^= 1) {
    const bool more = k + Place::k < g.K;
    read(slot, 0);
    if (more) {
      next.fetch_a(g, row, k + Place::k);
      next.fetch_b(g, k + Place::k, column);
    }
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step + 1 < steps) read(slot, step + 1);
#pragma unroll
      for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
        for (int j = 0; j < Block::tiles_n; ++j)
          part.sum[i][j] = multiply(x[step % 2][i], y[step % 2][j], part.sum[i][j]);
    }
    if (more) {
      next.store(a_lds[slot ^ 1], b_lds[slot ^ 1]);
      __syncthreads();  // next tile
    }
  }
  finish(g, part, row, column);
}

// A tile is stored in Place's order, copied without it to a second buffer of the LDS, and read from there.
template <class Block, class Place, class Load, class Mover = Pieces<Block, Place, Load>, class Problem>
__device__ void through_copy(const Problem &g) {
  typedef Separate<1> Plain;
  static_assert(Place::k == Plain::k, "tiles of 16");
  __shared__ __attribute__((aligned(16))) f16 a_swizzled[Place::size(Block::rows)],
      b_swizzled[Place::size(Block::columns)], a_plain[Plain::size(Block::rows)], b_plain[Plain::size(Block::columns)];
  const auto [row, column] = corner_of<Block>(g);
  Mover next;
  Part<Block, Plain> part;
  const auto copy = [](f16 *to, const f16 *from, int lines) {
    for (int n = threadIdx.x; n < 2 * lines; n += Block::threads)
      *reinterpret_cast<f16x8 *>(to + Plain::at(lines, n / 2, n % 2 * 8)) =
          *reinterpret_cast<const f16x8 *>(from + Place::at(lines, n / 2, n % 2 * 8));
  };
  for (int k = 0; k < g.K; k += Place::k) {
    next.fetch_a(g, row, k);
    next.fetch_b(g, k, column);
    next.store(a_swizzled, b_swizzled);
    __syncthreads();  // stored; and the former copy is read
    copy(a_plain, a_swizzled, Block::rows);
    copy(b_plain, b_swizzled, Block::columns);
    __syncthreads();  // copied
    part.multiply_tile(a_plain, b_plain);
  }
  finish(g, part, row, column);
}
