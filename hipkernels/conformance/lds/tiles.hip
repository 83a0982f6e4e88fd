// One wave multiplies 16x128 by 128x16 FP8 out of the LDS; the tiles lie there under different swizzles.
//
// Both tiles have 128 bytes of K in each row and are read 16 bytes a lane: row lane % 16, chunk lane / 16, then the other
// half of K. Two matrix instructions share 16 bytes, so that K is permuted, in A and B alike.
#include <hip/hip_runtime.h>

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef unsigned words4 __attribute__((ext_vector_type(4)));
typedef long i64x2 __attribute__((ext_vector_type(2)));
typedef __attribute__((address_space(3))) void lds_void;

#define ROWS 16
#define ROW_BYTES 128

struct None {
  static constexpr int pitch = ROW_BYTES;
  static __device__ unsigned at(unsigned row, unsigned column) { return row * pitch + column; }
};
// Published for CDNA4: pairs of rows take 16-byte columns in the order 0 1 3 2 5 4 6 7.
struct Pairs {
  static constexpr int pitch = ROW_BYTES;
  static __device__ unsigned at(unsigned row, unsigned column) {
    const unsigned pair = row >> 1 & 7, order = pair ^ (((pair >> 1) ^ (pair >> 2)) & 1);
    return row * pitch + (column ^ order << 4);
  }
};
// Published for CDNA4: three bits of the offset, from bit 8 up, into the 16-byte column.
struct Offset {
  static constexpr int pitch = ROW_BYTES;
  static __device__ unsigned at(unsigned row, unsigned column) {
    const unsigned offset = row * pitch + column;
    return offset ^ ((offset % 2048) >> 8) << 4;
  }
};
// The low bits of the row: free on CDNA3 as well.
struct Row {
  static constexpr int pitch = ROW_BYTES;
  static __device__ unsigned at(unsigned row, unsigned column) { return row * pitch + (column ^ (row & 7) << 4); }
};
struct Padded {
  static constexpr int pitch = ROW_BYTES + 32;
  static __device__ unsigned at(unsigned row, unsigned column) { return row * pitch + column; }
};

#define STORE_AT(S, row, column) S::at(row, column)
#define LOAD_AT(S, row, column) S::at(row, column)
// Column of global memory that belongs at a place of the linear LDS; every swizzle here is its own inverse.
#define FETCH_COLUMN(S, row, column) (S::at(row, column) % ROW_BYTES)

template <typename S>
__device__ void store(char* tile, const char* from, unsigned lane) {
  for (unsigned n = lane; n < ROWS * ROW_BYTES / 16; n += 64) {
    const unsigned row = n / 8, column = n % 8 * 16;
    *reinterpret_cast<words4*>(tile + STORE_AT(S, row, column)) = *reinterpret_cast<const words4*>(from + 16 * n);
  }
}

template <typename S>
__device__ void store_direct(char* tile, const char* from, unsigned lane) {
#if defined(__gfx950__)
  constexpr unsigned bytes = 16;
#else
  constexpr unsigned bytes = 4;
#endif
  const auto source = __builtin_amdgcn_make_buffer_rsrc((void*)from, 0, ROWS * ROW_BYTES, 0x27000);
  for (unsigned n = 0; n < ROWS * ROW_BYTES; n += 64 * bytes) {
    const unsigned place = n + lane * bytes, row = place / ROW_BYTES, column = place % ROW_BYTES;
    const unsigned there = row * ROW_BYTES + FETCH_COLUMN(S, row, column);
    __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (lds_void*)(tile + n), bytes, there, 0, 0, 0);
  }
}

template <typename S>
__device__ i64x2 load(const char* tile, unsigned lane, unsigned half) {
  return *reinterpret_cast<const i64x2*>(tile + LOAD_AT(S, lane % 16, 64 * half + lane / 16 * 16));
}

template <typename S, bool DIRECT>
__device__ void multiply(const char* A, const char* B, float* C) {
  __shared__ __attribute__((aligned(16))) char a_tile[ROWS * S::pitch], b_tile[ROWS * S::pitch];
  const unsigned lane = threadIdx.x;
  if constexpr (DIRECT) {
    store_direct<S>(a_tile, A, lane);
    store_direct<S>(b_tile, B, lane);
    __builtin_amdgcn_s_waitcnt(0x3f70);  // vmcnt(0)
  } else {
    store<S>(a_tile, A, lane);
    store<S>(b_tile, B, lane);
  }
  __syncthreads();
  f32x4 sum = {};
  for (unsigned half = 0; half < 2; ++half) {
    const i64x2 a = load<S>(a_tile, lane, half), b = load<S>(b_tile, lane, half);
    sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a.x, b.x, sum, 0, 0, 0);
    sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a.y, b.y, sum, 0, 0, 0);
  }
  for (unsigned r = 0; r < 4; ++r) C[16 * (4 * (lane / 16) + r) + lane % 16] = sum[r];
}

#define TILE(NAME, S, DIRECT)                                                                        \
  extern "C" __global__ __launch_bounds__(64) void NAME(const char* A, const char* B, float* C) {    \
    multiply<S, DIRECT>(A, B, C);                                                                    \
  }

TILE(tile_none, None, false)
TILE(tile_pairs, Pairs, false)
TILE(tile_offset, Offset, false)
TILE(tile_row, Row, false)
TILE(tile_padded, Padded, false)
TILE(tile_none_direct, None, true)
TILE(tile_pairs_direct, Pairs, true)
TILE(tile_offset_direct, Offset, true)
TILE(tile_row_direct, Row, true)
