// What all kernels of the ladder share: fragments of v_wmma_f32_16x16x32_f16, the product of two tiles, and how C is
// stored. Four waves, two by two, compute 64x64 of C, each 32x32; a step is 32 elements of K, 64 bytes of a row.
#pragma once
#include <hip/hip_runtime.h>

typedef _Float16 half;
typedef half h8 __attribute__((ext_vector_type(8)));
typedef half h16 __attribute__((ext_vector_type(16)));
typedef float f8 __attribute__((ext_vector_type(8)));

#define WAVES 4
#define SIZE 64   // rows of a tile
#define STEP 32   // elements of K
#define PITCH 40  // elements from a row in the LDS to the next: 16 bytes of padding separate the banks of the rows

struct Slot {
  half a[SIZE * PITCH], b[SIZE * PITCH];
};

// 16 rows of A, or columns of B: a lane holds eight elements of K, and eight elements 16 further on.
__device__ inline h16 fragment(const half *rows, int pitch) {
  const unsigned lane = threadIdx.x % 32;
  const half *place = rows + lane % 16 * pitch + lane / 16 * 8;
  const h8 low = *reinterpret_cast<const h8 *>(place), high = *reinterpret_cast<const h8 *>(place + 16);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

__device__ inline f8 product(h16 a, h16 b, f8 sum) {
  return __builtin_amdgcn_wmma_f32_16x16x32_f16(0, a, 0, b, 0, sum, 0, 0);
}

struct Sums {
  f8 of[2][2] = {};
};

// Vector instructions that must lie between a product and one that overwrites its operands (CDNA5 ISA manual, 7.12.1):
// clang 22 leaves some out where a loop goes on.
__device__ inline void settle(Sums &sums) {
  asm volatile("v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop\n v_nop"
               : "+v"(sums.of[0][0]), "+v"(sums.of[0][1]), "+v"(sums.of[1][0]), "+v"(sums.of[1][1]));
}

__device__ inline unsigned wave() { return __builtin_amdgcn_readfirstlane(threadIdx.x / 32); }

// The part of a step that a wave computes.
__device__ inline void multiply(const Slot &slot, Sums &sums) {
  const half *a = slot.a + wave() / 2 * 32 * PITCH, *b = slot.b + wave() % 2 * 32 * PITCH;
  h16 left[2], right[2];
  for (int i = 0; i < 2; ++i) {
    left[i] = fragment(a + 16 * i * PITCH, PITCH);
    right[i] = fragment(b + 16 * i * PITCH, PITCH);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) sums.of[i][j] = product(left[i], right[j], sums.of[i][j]);
  settle(sums);
}

// Element r of a fragment of C is in row r + 8 * (lane / 16), column lane % 16.
template <typename Store>
__device__ inline void each(const Sums &sums, Store store) {
  const unsigned lane = threadIdx.x % 32, row = wave() / 2 * 32 + lane / 16 * 8, column = wave() % 2 * 32 + lane % 16;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int r = 0; r < 8; ++r) store(row + 16 * i + r, column + 16 * j, sums.of[i][j][r]);
}

__device__ inline void store(const Sums &sums, float *C, int M, int N, int row, int column) {
  each(sums, [&](int y, int x, float value) {
    if (row + y < M && column + x < N) C[(size_t)(row + y) * N + column + x] = value;
  });
}

#define SIGNAL() __builtin_amdgcn_s_barrier_signal(-1)
#define WAIT() __builtin_amdgcn_s_barrier_wait(-1)
#define MEMORY() asm volatile("" ::: "memory")
#define READ() asm volatile("s_wait_dscnt 0x0" ::: "memory")  // what was read of the LDS has arrived
