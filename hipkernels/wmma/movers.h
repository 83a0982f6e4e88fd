// Other ways for the pieces of a tile from memory to the LDS.
#pragma once
#include "product.h"

// The first half of the threads moves A, the second half B.
template <class Block>
struct Halves {
  static constexpr int a_threads = Block::threads / 2, b_threads = Block::threads / 2;
  static constexpr bool all = false;
  static constexpr int none = 1 << 20;  // beyond every piece
  static __device__ int a() { return (int)threadIdx.x < a_threads ? threadIdx.x : none; }
  static __device__ int b() { return (int)threadIdx.x < a_threads ? none : threadIdx.x - a_threads; }
};

// A piece of B is eight of K in one column, gathered element by element, so that it goes to the LDS as it is. Columns
// and K have no need to come in eights; what lies outside is 0.
template <class Block, class Place, class Load, class Who>
struct GatheredB {
  static constexpr int b_count = Block::columns * Place::k / 8, threads = Who::b_threads;
  static constexpr int b_each = (b_count + threads - 1) / threads;
  f16x8 b[b_each];

  __device__ void fetch_b(const Gemm &g, int k, int column) {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const int x = column + i % Block::columns, z = k + i / Block::columns * 8 + e;
        b[n][e] = i < b_count && x < g.N && z < g.K ? g.B[(size_t)z * g.ldb + x] : (f16)0;
      }
  }
  __device__ void store_b(f16 *b_lds) const {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
      if (i < b_count) {
        const int line = i % Block::columns, k = i / Block::columns * 8;
        *reinterpret_cast<f16x8 *>(b_lds + Place::at(Block::columns, line, k)) = b[n];
      }
  }
};

// Two rows of eight at a time: what goes to the LDS are pairs that follow each other in K, half as many stores.
template <class Block, class Place, class Load, class Who>
struct PairedB {
  typedef f16 f16x2 __attribute__((ext_vector_type(2)));
  static constexpr int b_line = Block::columns / 8, b_count = Place::k / 2 * b_line, threads = Who::b_threads;
  static constexpr int b_each = (b_count + threads - 1) / threads;
  f16x8 even[b_each], odd[b_each];

  __device__ void fetch_b(const Gemm &g, int k, int column) {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
      if (i < b_count) {
        even[n] = Load::b(g, k + i / b_line * 2, column + i % b_line * 8);
        odd[n] = Load::b(g, k + i / b_line * 2 + 1, column + i % b_line * 8);
      }
  }
  __device__ void store_b(f16 *b_lds) const {
#pragma unroll
    for (int n = 0, i = Who::b(); n < b_each; ++n, i += threads)
      if (i < b_count)
#pragma unroll
        for (int e = 0; e < 8; ++e)
          *reinterpret_cast<f16x2 *>(b_lds + Place::at(Block::columns, i % b_line * 8 + e, i / b_line * 2)) =
              f16x2{even[n][e], odd[n][e]};
  }
};

// One place for the lines of A, of which there are ROWS, and another one for those of B.
template <int ROWS, class OfA, class OfB>
struct Mixed {
  static constexpr int k = OfA::k;
  static constexpr bool wide = OfA::wide && OfB::wide;
  static constexpr int size(int lines) { return lines == ROWS ? OfA::size(lines) : OfB::size(lines); }
  static __device__ int at(int lines, int line, int k_) {
    return lines == ROWS ? OfA::at(lines, line, k_) : OfB::at(lines, line, k_);
  }
};
