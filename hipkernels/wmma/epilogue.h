// How a workgroup leaves its tile of C: straight from the registers, or after an exchange between lanes that gives each
// of them eight columns of one row.
#pragma once
#include "product.h"

// Nothing is asked element by element where the whole tile lies inside, and what is stored is not kept in the caches.
struct Direct : Gemm {};
template <class Block, class Place>
__device__ void finish(const Direct &g, const Part<Block, Place> &part, int row, int column) {
  if (row + Block::rows > g.M || column + Block::columns > g.N) return part.finish(g, row, column);
#pragma unroll
  for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j) {
      float *c = g.C + (size_t)(row + part.m + 16 * i) * g.ldc + column + part.n + 16 * j + column_of(part.lane);
#pragma unroll
      for (int r = 0; r < 8; ++r)
        __builtin_nontemporal_store(part.sum[i][j][r], c + (size_t)row_of(r, part.lane) * g.ldc);
    }
}

// The value of lane ^ BIT, for BIT below 8; all lanes take part.
struct ByPermute {  // through the crossbar of the LDS
  template <int BIT>
  static __device__ float from(float x) {
    const int bits = __builtin_bit_cast(int, x);
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((threadIdx.x % 32 ^ BIT) * 4, bits));
  }
};
struct ByDpp {  // row_xmask (RDNA3 ISA guide, 15.3.1 "DPP16")
  template <int BIT>
  static __device__ float from(float x) {
    const int bits = __builtin_bit_cast(int, x);
    return __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(bits, bits, 0x160 | BIT, 0xf, 0xf, false));
  }
};
struct ByPermlane {  // within 16 lanes, each of which takes what four bits of two scalars say
  template <int BIT>
  static __device__ float from(float x) {
    unsigned low = 0, high = 0;
    for (unsigned lane = 0; lane < 8; ++lane) {
      low |= (lane ^ BIT) << 4 * lane;
      high |= (lane + 8 ^ BIT) << 4 * lane;
    }
    const int bits = __builtin_bit_cast(int, x);
    return __builtin_bit_cast(float, __builtin_amdgcn_permlane16(bits, bits, low, high, false, false));
  }
};

// Exchanges bit BIT of the register with the same bit of the lane.
template <class By, int BIT>
__device__ void exchange(f32x8 &v) {
  const bool upper = threadIdx.x & BIT;
#pragma unroll
  for (int r = 0; r < 8; ++r)
    if (!(r & BIT)) {
      const float given = By::template from<BIT>(upper ? v[r] : v[r | BIT]);
      v[upper ? r : r | BIT] = given;
    }
}

// Eight lanes and eight registers, transposed: lane l then holds row row_of(l % 8) and columns 8 * (l / 8 % 2) and on.
template <class By>
__device__ f32x8 transposed(f32x8 v) {
  exchange<By, 1>(v);
  exchange<By, 2>(v);
  exchange<By, 4>(v);
  return v;
}

// Rows leave 16 bytes at a time, which needs N % 8 == 0 and rows of C that begin at multiples of 16 bytes.
struct Wide {
  static __device__ void store(const Gemm &g, float *c, int x, f32x8 v) {
    typedef float f32x4 __attribute__((ext_vector_type(4)));
    if (x >= g.N) return;
    reinterpret_cast<f32x4 *>(c)[0] = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    reinterpret_cast<f32x4 *>(c)[1] = __builtin_shufflevector(v, v, 4, 5, 6, 7);
  }
};
// Element by element.
struct Narrow {
  static __device__ void store(const Gemm &g, float *c, int x, f32x8 v) {
#pragma unroll
    for (int e = 0; e < 8; ++e)
      if (x + e < g.N) c[e] = v[e];
  }
};

template <class By, class Stores = Wide>
struct Shuffled : Gemm {};
template <class Block, class Place, class By, class Stores>
__device__ void finish(const Shuffled<By, Stores> &g, const Part<Block, Place> &part, int row, int column) {
#pragma unroll
  for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j) {
      const f32x8 line = transposed<By>(part.sum[i][j]);
      const int y = row + part.m + 16 * i + row_of(part.lane % 8, part.lane);
      const int x = column + part.n + 16 * j + part.lane / 8 % 2 * 8;
      if (y < g.M) Stores::store(g, g.C + (size_t)y * g.ldc + x, x, line);
    }
}

// Through the LDS, 32 KiB of it for 128x64: lanes then store eight columns of a row each.
template <class Stores = Wide>
struct ThroughLds : Gemm {};
template <class Block, class Place, class Stores>
__device__ void finish(const ThroughLds<Stores> &g, const Part<Block, Place> &part, int row, int column) {
  __shared__ __attribute__((aligned(16))) float c_lds[Block::rows * Block::columns];
#pragma unroll
  for (int i = 0; i < Block::tiles_m; ++i)
#pragma unroll
    for (int j = 0; j < Block::tiles_n; ++j)
#pragma unroll
      for (int r = 0; r < 8; ++r)
        c_lds[(part.m + 16 * i + row_of(r, part.lane)) * Block::columns + part.n + 16 * j + column_of(part.lane)] =
            part.sum[i][j][r];
  __syncthreads();  // all of the tile
  for (int n = threadIdx.x * 8; n < Block::rows * Block::columns; n += Block::threads * 8) {
    const int y = row + n / Block::columns, x = column + n % Block::columns;
    if (y < g.M) Stores::store(g, g.C + (size_t)y * g.ldc + x, x, *reinterpret_cast<const f32x8 *>(c_lds + n));
  }
}
