// C = alpha A B^T on RDNA4: A [M, K] and B [N, K] in FP8, sums in f32, C [M, N] in f32, bf16 or f16.
//
// All matrices are row-major; lda, ldb and ldc count elements. E4M3 and E5M2 are OCP's. The kernels that use tiles need K
// to be a multiple of 64, and rows of A and B that begin at multiples of 16 bytes.
#pragma once
#include "../fragment.h"

typedef unsigned char fp8;
typedef int words2 __attribute__((ext_vector_type(2)));
typedef int words4 __attribute__((ext_vector_type(4)));

#define INLINE __device__ __attribute__((always_inline)) inline
#define DEPTH 64        // of K in a tile, and bytes of its rows
#define RAW 0x31004000  // last word of a buffer resource: out of range means beyond its bytes

template <class Out>
struct Gemm {
  const fp8 *A, *B;
  Out *C;
  int M, N, K, lda, ldb, ldc;
  float alpha;
};

struct E4m3 {};
struct E5m2 {};
#define MULTIPLIES(A, B, A_B)                                                 \
  INLINE f32x8 multiply(A, B, words2 a, words2 b, f32x8 sum) {                \
    return __builtin_amdgcn_wmma_f32_16x16x16_##A_B##_w32_gfx12(a, b, sum);   \
  }
MULTIPLIES(E4m3, E4m3, fp8_fp8)
MULTIPLIES(E4m3, E5m2, fp8_bf8)
MULTIPLIES(E5m2, E4m3, bf8_fp8)
MULTIPLIES(E5m2, E5m2, bf8_bf8)

// Waves of a workgroup, and the tiles of 16x16 that each of them computes.
template <int WAVES_M, int WAVES_N, int TILES_M, int TILES_N>
struct Waves {
  static constexpr int across = WAVES_N, tiles_m = TILES_M, tiles_n = TILES_N;
  static constexpr int threads = 32 * WAVES_M * WAVES_N;
  static constexpr int rows = 16 * WAVES_M * TILES_M, columns = 16 * WAVES_N * TILES_N;
};

// Where byte `column` of a row lies in the LDS.
struct Plain {
  static constexpr int row = DEPTH;
  static INLINE unsigned at(unsigned row_, unsigned column) { return row_ * row + column; }
};
// 16 bytes between the rows: eight of them meet in no bank.
struct Padded {
  static constexpr int row = DEPTH + 16;
  static INLINE unsigned at(unsigned row_, unsigned column) { return row_ * row + column; }
};
// Bits 1 and 2 of the row in the 16-byte column: the same without the gaps.
struct Swizzled {
  static constexpr int row = DEPTH;
  static INLINE unsigned at(unsigned row_, unsigned column) { return row_ * row + (column ^ (row_ >> 1 & 3) << 4); }
};

// What a lane reads at a time of its row: eight bytes serve one instruction, in the order of K; sixteen serve two, so that
// 32 of K are permuted, in A and B alike.
struct Narrow {
  typedef words2 Words;
  static constexpr int k = 16;
};
struct Wide {
  typedef words4 Words;
  static constexpr int k = 32;
};

template <class Block, class Place>
struct __attribute__((aligned(16))) Slot {
  unsigned char a[Block::rows * Place::row], b[Block::columns * Place::row];
};

// What a thread moves of a tile, 16 bytes a load. Rows that the matrices do not have are beyond the resources, and 0.
template <class Block, class Place>
struct Fetch {
  static constexpr int together = Block::threads / 4;  // rows
  static constexpr int a_each = Block::rows / together, b_each = Block::columns / together;
  __amdgpu_buffer_rsrc_t a, b;
  unsigned row, byte, a_at, b_at;
  int a_step, b_step;
  words4 a_held[a_each], b_held[b_each];

  template <class Out>
  INLINE Fetch(const Gemm<Out> &g, int first, int column)
      : a(__builtin_amdgcn_make_buffer_rsrc((void *)(g.A + (size_t)first * g.lda), 0,
                                            (min(Block::rows, g.M - first) - 1) * g.lda + g.K, RAW)),
        b(__builtin_amdgcn_make_buffer_rsrc((void *)(g.B + (size_t)column * g.ldb), 0,
                                            (min(Block::columns, g.N - column) - 1) * g.ldb + g.K, RAW)),
        row(threadIdx.x / 4), byte(threadIdx.x % 4 * 16), a_at(row * g.lda + byte), b_at(row * g.ldb + byte),
        a_step(together * g.lda), b_step(together * g.ldb) {}
  // From memory to registers.
  INLINE void start(int k) {
#pragma unroll
    for (int n = 0; n < a_each; ++n) a_held[n] = __builtin_amdgcn_raw_buffer_load_b128(a, a_at, k + n * a_step, 0);
#pragma unroll
    for (int n = 0; n < b_each; ++n) b_held[n] = __builtin_amdgcn_raw_buffer_load_b128(b, b_at, k + n * b_step, 0);
  }
  // From registers to the LDS.
  INLINE void store(Slot<Block, Place> &slot) const {
#pragma unroll
    for (int n = 0; n < a_each; ++n) *(words4 *)(slot.a + Place::at(row + n * together, byte)) = a_held[n];
#pragma unroll
    for (int n = 0; n < b_each; ++n) *(words4 *)(slot.b + Place::at(row + n * together, byte)) = b_held[n];
  }
};

// One wave's tiles of C. TURNED: the instruction's operands are exchanged and its result is transposed, so that a lane has
// eight columns of one row, which leave together; else it has eight rows of one column.
template <class A, class B, class Block, class Place, class Read, bool TURNED>
struct Part {
  struct Fragments {
    typename Read::Words a[Block::tiles_m], b[Block::tiles_n];
  };
  unsigned lane = threadIdx.x % 32, wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 32);
  unsigned m = wave / Block::across * 16 * Block::tiles_m, n = wave % Block::across * 16 * Block::tiles_n;
  f32x8 sum[Block::tiles_m][Block::tiles_n] = {};

  INLINE void read(Fragments &to, const Slot<Block, Place> &slot, int k) const {
    const unsigned column = k + lane / 16 * (Read::k / 2);
#pragma unroll
    for (int i = 0; i < Block::tiles_m; ++i)
      to.a[i] = *(const typename Read::Words *)(slot.a + Place::at(m + lane % 16, column) + 16 * i * Place::row);
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j)
      to.b[j] = *(const typename Read::Words *)(slot.b + Place::at(n + lane % 16, column) + 16 * j * Place::row);
  }
  INLINE void add(const Fragments &f) {
#pragma unroll
    for (int step = 0; step < Read::k / 16; ++step)
#pragma unroll
      for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
        for (int j = 0; j < Block::tiles_n; ++j) {
          const words2 a = {f.a[i][2 * step], f.a[i][2 * step + 1]}, b = {f.b[j][2 * step], f.b[j][2 * step + 1]};
          sum[i][j] = TURNED ? multiply(B{}, A{}, b, a, sum[i][j]) : multiply(A{}, B{}, a, b, sum[i][j]);
        }
  }
  INLINE void add_tile(const Slot<Block, Place> &slot) {
#pragma unroll
    for (int k = 0; k < DEPTH; k += Read::k) {
      Fragments f;
      read(f, slot, k);
      add(f);
    }
  }
  template <class Out>
  INLINE void finish(const Gemm<Out> &g, int row, int column) const {
    typedef Out Line __attribute__((ext_vector_type(8)));
#pragma unroll
    for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
      for (int j = 0; j < Block::tiles_n; ++j) {
        const int y = row + m + 16 * i, x = column + n + 16 * j;
        if constexpr (TURNED) {
          const int mine = y + column_of(lane), from = x + row_of(0, lane);
          Line line;
#pragma unroll
          for (int r = 0; r < 8; ++r) line[r] = (Out)(g.alpha * sum[i][j][r]);
          if (mine < g.M && from < g.N) *(Line *)(g.C + (size_t)mine * g.ldc + from) = line;
        } else {
#pragma unroll
          for (int r = 0; r < 8; ++r) {
            const int mine = y + row_of(r, lane), at = x + column_of(lane);
            if (mine < g.M && at < g.N) g.C[(size_t)mine * g.ldc + at] = (Out)(g.alpha * sum[i][j][r]);
          }
        }
      }
  }
};

#define TILES_IN_LDS(SLOTS)                                                              \
  __shared__ Slot<Block, Place> slot[SLOTS];                                             \
  const int row = blockIdx.y * Block::rows, column = blockIdx.x * Block::columns;        \
  Fetch<Block, Place> fetch(g, row, column);                                             \
  Part<A, B, Block, Place, Read, TURNED> part

// A kernel NAME whose body sees the problem as `g`.
#define KERNEL(NAME, THREADS, OUT, ...)                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                    \
      NAME(const fp8 *A, const fp8 *B, OUT *C, int M, int N, int K, int lda, int ldb, int ldc, float alpha) { \
    const Gemm<OUT> g = {A, B, C, M, N, K, lda, ldb, ldc, alpha};                                          \
    __VA_ARGS__(g);                                                                                        \
  }
