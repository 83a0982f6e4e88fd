// Tiles of A and B in the LDS: rows of 128 bytes of K, fetched straight from memory, read as fragments, multiplied.
#pragma once
#include "gemm.h"

#define TILE_K 128  // elements of K in a tile, and bytes of one of its rows

// Where the byte `column` of a row lies. All but None are their own inverse and leave a byte in its row.
struct None {
  static __device__ unsigned at(unsigned row, unsigned column) { return row * TILE_K + column; }
};
// Pairs of rows take their 16-byte columns in the order 0 1 3 2 5 4 6 7: free of conflicts on gfx950, 2-way on gfx942.
struct Pairs {
  static __device__ unsigned at(unsigned row, unsigned column) {
    const unsigned pair = row >> 1 & 7, order = pair ^ (((pair >> 1) ^ (pair >> 2)) & 1);
    return row * TILE_K + (column ^ order << 4);
  }
};
// Three bits of the offset, from bit 8 up, into the 16-byte column: as free as Pairs.
struct Offset {
  static __device__ unsigned at(unsigned row, unsigned column) {
    const unsigned offset = row * TILE_K + column;
    return offset ^ ((offset % 2048) >> 8) << 4;
  }
};
// The low bits of the row: free of conflicts on gfx942 as well.
struct Row {
  static __device__ unsigned at(unsigned row, unsigned column) { return row * TILE_K + (column ^ (row & 7) << 4); }
};

// Byte of a row in global memory that belongs at a place of the LDS; places in the LDS to store and read a byte of a row.
#define FETCH_COLUMN(S, row, column) (S::at(row, column) % TILE_K)
#define STORE_AT(S, row, column) S::at(row, column)
#define READ_AT(S, row, column) S::at(row, column)

// What a load to the LDS brings per lane: 16 bytes need CDNA4.
#if defined(__gfx950__)
#define DIRECT_BYTES 16
#else
#define DIRECT_BYTES 4
#endif
// Loads that one wave issues for so many rows of a tile, and by how much vmcnt rises.
#define DIRECT_LOADS(ROWS, WAVES) ((ROWS) * TILE_K / (64 * DIRECT_BYTES * (WAVES)))

// `rows` rows of a matrix from `first` on, each with K bytes; what lies beyond reads as 0.
__device__ inline __amdgpu_buffer_rsrc_t rows_of(const fp8 *matrix, int first, int rows, int ld, int K) {
  return __builtin_amdgcn_make_buffer_rsrc((void *)(matrix + (size_t)first * ld), 0, (rows - 1) * ld + K, 0x27000);
}

// What a kernel calls to move or multiply data has no lines of its own for the debugger, so that reports name the line of the kernel.
#define MOVES __device__ __attribute__((always_inline, nodebug)) inline

// Load number n of a fetch of ROWS rows; the LDS fills without gaps, lane by lane, so it is the bytes of global memory that
// are put in another order.
template <typename S, int ROWS, int WAVES>
MOVES void fetch_one(unsigned n, char *tile, __amdgpu_buffer_rsrc_t source, int first, int ld, int k, unsigned wave,
                     unsigned lane) {
  const unsigned start = (n * WAVES + wave) * 64 * DIRECT_BYTES, place = start + lane * DIRECT_BYTES;
  const unsigned row = place / TILE_K, column = place % TILE_K;
  __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (mfmasim_lds_void *)(tile + start), DIRECT_BYTES,
                                           row * ld + FETCH_COLUMN(S, row, column), first * ld + k, 0, 0);
}

// Start to fetch ROWS rows, from `first` of the resource and the byte k on, by WAVES waves together.
template <typename S, int ROWS, int WAVES>
MOVES void fetch(char *tile, __amdgpu_buffer_rsrc_t source, int first, int ld, int k, unsigned wave, unsigned lane) {
#pragma unroll
  for (unsigned n = 0; n < DIRECT_LOADS(ROWS, WAVES); ++n) fetch_one<S, ROWS, WAVES>(n, tile, source, first, ld, k, wave, lane);
}

// 16 rows of A, or 16 of B, times 128 of K: a lane has row lane % 16, k 16 (lane / 16) and 64 + 16 (lane / 16) onwards.
struct Fragment {
  words4 low, high;
};

// Read a fragment; the compiler waits for it.
template <typename S>
__device__ __attribute__((always_inline)) Fragment read(const char *tile, unsigned row, unsigned lane) {
  row += lane % 16;
  return {*reinterpret_cast<const words4 *>(tile + READ_AT(S, row, lane / 16 * 16)),
          *reinterpret_cast<const words4 *>(tile + READ_AT(S, row, 64 + lane / 16 * 16))};
}

// Start to read 16 bytes a lane from 16 rows; lgkmcnt rises by 1.
template <typename S>
MOVES void start_half(words4 &to, const char *tile, unsigned row, unsigned column, unsigned lane) {
  asm volatile("ds_read_b128 %0, %1"
               : "=v"(to)
               : "v"(LDS_ADDRESS(tile + READ_AT(S, row + lane % 16, column + lane / 16 * 16)))
               : "memory");
}

// Start to read a fragment; two reads, lgkmcnt rises by 2. Only `arrived` waits for them, after the kernel's own wait.
template <typename S>
MOVES void start_read(Fragment &f, const char *tile, unsigned row, unsigned lane) {
  start_half<S>(f.low, tile, row, 0, lane);
  start_half<S>(f.high, tile, row, 64, lane);
}

// Keeps the compiler from using a fragment before the wait that stands above.
__device__ __attribute__((always_inline)) inline void arrived(Fragment &f) {
  asm volatile("" : "+v"(f.low), "+v"(f.high));
}

// sum + a b^T over the 128 of K. Four instructions on CDNA3 take the lane's bytes in turn: K is permuted, in a and b alike.
MOVES f32x4 multiply(f32x4 sum, const Fragment &a, const Fragment &b) {
#if defined(__gfx950__)
  typedef int i32x8 __attribute__((ext_vector_type(8)));
  // Literal zeros for both scales: the instruction without scales.
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(__builtin_bit_cast(i32x8, a), __builtin_bit_cast(i32x8, b), sum, 0,
                                                          0, 0, 0, 0, 0);
#else
  typedef long i64x4 __attribute__((ext_vector_type(4)));
  const i64x4 x = __builtin_bit_cast(i64x4, a), y = __builtin_bit_cast(i64x4, b);
#pragma unroll
  for (int n = 0; n < 4; ++n) sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x[n], y[n], sum, 0, 0, 0);
  return sum;
#endif
}
