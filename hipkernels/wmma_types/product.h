// C = A B with A [M,K], B [K,N] and C [M,N] row-major, for any type of types.h. Four waves, two by two, compute 64x64 of C;
// lda, ldb and ldc count elements, of which two of four bits share a byte, the first one in its lower half.
#pragma once
#include "types.h"

#define BLOCK 64
#define TILES 2  // of 16x16, in both directions, for each wave

template <class Type>
struct Gemm {
  const unsigned char *A, *B;
  typename Type::Result *C;
  int M, N, K, lda, ldb, ldc;
};

// Eight elements.
template <int BITS>
struct __attribute__((aligned(BITS))) Piece {
  unsigned words[BITS / 4];
  __device__ unsigned operator[](int e) const { return words[e * BITS / 32] >> e * BITS % 32 & ((1u << BITS) - 1); }
};

// Loads that need rows to begin at multiples of BITS bytes, N % 8 == 0 and K % 16 == 0.
struct Whole {
  template <int BITS>
  static __device__ Piece<BITS> load(const unsigned char *from, int row, int rows, int column, int columns, int ld) {
    if (row >= rows || column >= columns) return {};
    return *reinterpret_cast<const Piece<BITS> *>(from + ((size_t)row * ld + column) * BITS / 8);
  }
};
// Loads element by element: what lies outside is 0, in A and in B, since 0 times Inf is not.
struct Guarded {
  template <int BITS>
  static __device__ Piece<BITS> load(const unsigned char *from, int row, int rows, int column, int columns, int ld) {
    Piece<BITS> out = {};
    for (int e = 0; e < 8; ++e)
      if (row < rows && column + e < columns) {
        const size_t place = (size_t)row * ld + column + e;
        unsigned code = from[place * BITS / 8];
        if constexpr (BITS == 16) code |= from[2 * place + 1] << 8;
        if constexpr (BITS == 4) code = code >> place % 2 * 4 & 15;
        out.words[e * BITS / 32] |= code << e * BITS % 32;
      }
    return out;
  }
};

// Lines of 16 elements in the LDS; 16-bit ones have 16 bytes between them, so that eight meet in no bank.
template <int BITS>
struct Place {
  static constexpr int line = 2 * BITS + (BITS == 16 ? 16 : 0), size = BLOCK * line;
  static __device__ int at(int row, int k) { return row * line + k * BITS / 8; }
};

// What one thread moves: eight of K of a row of A, and eight columns of B in as many rows as share a byte of a line.
template <class Type, class Load>
struct Moved {
  static constexpr int bits = Type::bits, together = bits < 8 ? 8 / bits : 1;
  typedef Place<bits> At;
  int line = threadIdx.x / 2, k = threadIdx.x % 2 * 8;
  int b_k = threadIdx.x / 8 * together, columns = threadIdx.x % 8 * 8;
  bool moves_b = b_k < 16;
  Piece<bits> a, b[together];

  __device__ void fetch(const Gemm<Type> &g, int row, int column, int k0) {
    a = Load::template load<bits>(g.A, row + line, g.M, k0 + k, g.K, g.lda);
    for (int t = 0; t < together; ++t)
      if (moves_b) b[t] = Load::template load<bits>(g.B, k0 + b_k + t, g.K, column + columns, g.N, g.ldb);
  }
  __device__ void store(unsigned char *a_lds, unsigned char *b_lds) const {
    *reinterpret_cast<Piece<bits> *>(a_lds + At::at(line, k)) = a;
    if (moves_b)
      for (int e = 0; e < 8; ++e) {
        unsigned code = b[0][e];
        if constexpr (together == 2) code |= b[1][e] << bits;
        unsigned char *place = b_lds + At::at(columns + e, b_k);
        if constexpr (bits == 16)
          *reinterpret_cast<unsigned short *>(place) = code;
        else
          *place = code;
      }
  }
};

template <class Type>
__device__ Line<Type::bits> read_line(const unsigned char *lds, int line, unsigned lane) {
  const int k = HOLDERS == 2 ? lane / 16 * 8 : 0;
  return *reinterpret_cast<const Line<Type::bits> *>(lds + Place<Type::bits>::at(line + lane % 16, k));
}

// One slot in the LDS; the next tile of K is on its way while this one is multiplied. With ADD the sums begin with C.
template <class Type, class Load, bool ADD = false>
__device__ void product(const Gemm<Type> &g) {
  __shared__ __attribute__((aligned(32))) unsigned char a_lds[Place<Type::bits>::size], b_lds[Place<Type::bits>::size];
  const unsigned lane = threadIdx.x % 32, wave = threadIdx.x / 32;
  const int row = blockIdx.y * BLOCK, column = blockIdx.x * BLOCK, m = wave / 2 * 16 * TILES, n = wave % 2 * 16 * TILES;
  Sums<Type, TILES, TILES> sums;
  auto each = [&](auto what) {
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int j = 0; j < TILES; ++j)
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          const int y = row + m + 16 * i + row_of(r, lane), x = column + n + 16 * j + column_of(lane);
          if (y < g.M && x < g.N) what(g.C[(size_t)y * g.ldc + x], sums.at(i, j, r));
        }
  };
  if constexpr (ADD) each([](auto &c, auto &sum) { sum = c; });
  Moved<Type, Load> next;
  next.fetch(g, row, column, 0);
  for (int k = 0; k < g.K; k += 16) {
    next.store(a_lds, b_lds);
    __syncthreads();  // stored
    if (k + 16 < g.K) next.fetch(g, row, column, k + 16);
    Line<Type::bits> a[TILES], b[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      a[i] = read_line<Type>(a_lds, m + 16 * i, lane);
      b[i] = read_line<Type>(b_lds, n + 16 * i, lane);
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
      for (int j = 0; j < TILES; ++j) sums.add(i, j, a[i], b[j]);
    __syncthreads();  // read
  }
  each([](auto &c, auto &sum) { c = sum; });
}

#define KERNEL(NAME, LOAD, ADD, ...)                                                                           \
  extern "C" __global__ void __launch_bounds__(128)                                                            \
      NAME(const unsigned char *A, const unsigned char *B, __VA_ARGS__::Result *C, int M, int N, int K, int lda, \
           int ldb, int ldc) {                                                                                 \
    product<__VA_ARGS__, LOAD, ADD>(Gemm<__VA_ARGS__>{A, B, C, M, N, K, lda, ldb, ldc});                       \
  }
// Both ways to load.
#define KERNELS(NAME, ...)                        \
  KERNEL(NAME, Whole, false, __VA_ARGS__)         \
  KERNEL(any_##NAME, Guarded, false, __VA_ARGS__)
