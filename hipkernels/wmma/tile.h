// A tile of A and of B on its way: from global memory to registers, eight elements a piece, and from there to the LDS,
// where B lies transposed, so that a fragment of either is a line.
#pragma once
#include "fragment.h"

struct Gemm {
  const f16 *A, *B;
  float *C;
  int M, N, K, lda, ldb, ldc;
};

// Waves of a workgroup, and the tiles of 16x16 that each of them computes.
template <int WAVES_M, int WAVES_N, int TILES_M = 2, int TILES_N = 2>
struct Waves {
  static constexpr int across = WAVES_N, tiles_m = TILES_M, tiles_n = TILES_N;
  static constexpr int threads = 32 * WAVES_M * WAVES_N;
  static constexpr int rows = 16 * WAVES_M * TILES_M, columns = 16 * WAVES_N * TILES_N;
};

// Where element k of a line lies in the LDS, lines of 16 * TILES elements; `wide`: eight of them can be read at once.
template <int TILES>
struct Padded {  // 16 bytes between the lines: with one or two tiles eight lines meet in no bank
  static constexpr int k = 16 * TILES;
  static constexpr bool wide = true;
  static constexpr int size(int lines) { return lines * (k + 8); }
  static __device__ int at(int, int line, int k_) { return line * (k + 8) + k_; }
};
template <int TILES>
struct Separate {  // tile after tile, each without gaps
  static constexpr int k = 16 * TILES;
  static constexpr bool wide = true;
  static constexpr int size(int lines) { return lines * k; }
  static __device__ int at(int lines, int line, int k_) { return (k_ / 16 * lines + line) * 16 + k_ % 16; }
};

// Without padding; bit SHIFT of the line exchanges the two halves. Eight lanes read 256 bytes at a time, lines 0 to 7:
// of the 32 banks of four bytes each is met once where line 4 goes the other way than line 0 (SHIFT 2), and twice where
// line 1 does (SHIFT 0), which is what no exchange at all gives, too.
template <int SHIFT>
struct Exchanged {
  static constexpr int k = 16;
  static constexpr bool wide = true;
  static constexpr int size(int lines) { return lines * k; }
  static __device__ int at(int, int line, int k_) { return line * k + (k_ ^ (line >> SHIFT & 1) << 3); }
};

// Loads that need rows of A and B to begin at multiples of 16 bytes, N % 8 == 0, and K a multiple of the tile.
struct Whole {
  static __device__ f16x8 a(const Gemm &g, int row, int k) {
    return row < g.M ? *reinterpret_cast<const f16x8 *>(g.A + (size_t)row * g.lda + k) : f16x8{};
  }
  static __device__ f16x8 b(const Gemm &g, int k, int column) {
    return column < g.N ? *reinterpret_cast<const f16x8 *>(g.B + (size_t)k * g.ldb + column) : f16x8{};
  }
};
// Loads element by element: what lies outside is 0, in A and in B, since 0 times Inf is not.
struct Guarded {
  static __device__ f16x8 a(const Gemm &g, int row, int k) {
    f16x8 out = {};
    for (int i = 0; i < 8; ++i)
      if (row < g.M && k + i < g.K) out[i] = g.A[(size_t)row * g.lda + k + i];
    return out;
  }
  static __device__ f16x8 b(const Gemm &g, int k, int column) {
    f16x8 out = {};
    for (int i = 0; i < 8; ++i)
      if (k < g.K && column + i < g.N) out[i] = g.B[(size_t)k * g.ldb + column + i];
    return out;
  }
};

// Which threads move a tile: all of them the pieces of A and of B.
template <class Block>
struct Everybody {
  static constexpr int a_threads = Block::threads, b_threads = Block::threads;
  static constexpr bool all = true;
  static __device__ int a() { return threadIdx.x; }
  static __device__ int b() { return threadIdx.x; }
};

// The pieces of a tile that one thread moves.
template <class Block, class Place, class Load, class Who>
struct PiecesOfA {
  static constexpr int a_line = Place::k / 8, a_count = Block::rows * a_line, threads = Who::a_threads;
  static constexpr int a_each = (a_count + threads - 1) / threads;
  static constexpr bool a_all = Who::all && a_count % threads == 0;
  f16x8 a[a_each];

  __device__ void fetch_a(const Gemm &g, int row, int k) {
#pragma unroll
    for (int n = 0, i = Who::a(); n < a_each; ++n, i += threads)
      if (a_all || i < a_count) a[n] = Load::a(g, row + i / a_line, k + i % a_line * 8);
  }
  __device__ void store_a(f16 *a_lds) const {
#pragma unroll
    for (int n = 0, i = Who::a(); n < a_each; ++n, i += threads)
      if (a_all || i < a_count)
        *reinterpret_cast<f16x8 *>(a_lds + Place::at(Block::rows, i / a_line, i % a_line * 8)) = a[n];
  }
};
template <class Block, class Place, class Load, class Who>
struct PiecesOfB {
  static constexpr int b_line = Block::columns / 8, b_count = Place::k * b_line, threads = Who::b_threads;
  static constexpr int b_each = (b_count + threads - 1) / threads;
  static constexpr bool b_all = Who::all && b_count % threads == 0;
  f16x8 b[b_each];

  __device__ void fetch_b(const Gemm &g, int k, int column) {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
      if (b_all || i < b_count) b[n] = Load::b(g, k + i / b_line, column + i % b_line * 8);
  }
  __device__ void store_b(f16 *b_lds) const {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
      if (b_all || i < b_count)
        for (int e = 0; e < 8; ++e) b_lds[Place::at(Block::columns, i % b_line * 8 + e, i / b_line)] = b[n][e];
  }
};
template <class Block, class Place, class Load, class Who = Everybody<Block>,
          template <class, class, class, class> class OfB = PiecesOfB>
struct Pieces : PiecesOfA<Block, Place, Load, Who>, OfB<Block, Place, Load, Who> {
  __device__ void store(f16 *a_lds, f16 *b_lds) const {
    this->store_a(a_lds);
    this->store_b(b_lds);
  }
};
