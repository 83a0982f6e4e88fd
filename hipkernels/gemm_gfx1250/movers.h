// Three ways from memory to the LDS: through registers, lane by lane without them, and by the tensor data mover.
#pragma once
#include "tile.h"

typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
#define LDS __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))

// A matrix of which a workgroup needs 64 rows, from a step of K on.
struct Rows {
  const half *from;
  int rows, columns, pitch;
  unsigned mask;  // workgroups of the cluster that need the same rows

  __device__ Rows at(int k) const { return {from + k, rows, columns - k, pitch, mask}; }
};

// A workgroup that only fills a cluster has no rows left: all its elements are 0.
__device__ inline Rows rows_of(const half *matrix, int rows, int K, int first, unsigned mask = 0) {
  return {matrix + (size_t)first * K, max(rows - first, 0), K, K, mask};
}

__device__ inline unsigned address(const void *place) { return (unsigned)(size_t)(LDS const void *)place; }

struct Registers {
  __device__ static void move(half *to, Rows from, unsigned) {
    for (unsigned chunk = threadIdx.x; chunk < SIZE * STEP / 8; chunk += 32 * WAVES) {
      const unsigned row = chunk / 4, k = chunk % 4 * 8;
      *reinterpret_cast<h8 *>(to + row * PITCH + k) = *reinterpret_cast<const h8 *>(from.from + (size_t)row * from.pitch + k);
    }
  }
  template <int N>
  __device__ static void wait() {}  // the compiler waits
};

struct Async {
  __device__ static void move(half *to, Rows from, unsigned) {
    for (unsigned chunk = threadIdx.x; chunk < SIZE * STEP / 8; chunk += 32 * WAVES) {
      const unsigned row = chunk / 4, k = chunk % 4 * 8;
      __builtin_amdgcn_global_load_async_to_lds_b128(
          (GLOBAL i4 *)(from.from + (size_t)row * from.pitch + k), (LDS i4 *)(to + row * PITCH + k), 0, 0);
    }
  }
  template <int N>
  __device__ static void wait() {
    __builtin_amdgcn_s_wait_asynccnt(N);
    MEMORY();
  }
};

// One wave moves a tile. Elements beyond the matrix arrive as 0, so that M, N and K may be anything.
struct Tensor {
  __device__ static void move(half *to, Rows from, unsigned who) {
    if (wave() != who) return;
    const size_t place = (size_t)from.from;
    const i4 where = {1, (int)address(to), (int)place, (int)(place >> 32 & 0x1FFFFFF) | (int)0x80000000};
    const int elements = 1 << 16, padding = 1 << 20 | 3 << 22 | 3 << 25;  // 2 bytes; 4 dwords after each 16
    const i8 shape = {(int)from.mask | elements | padding,
                      from.columns << 16,
                      (int)((unsigned)from.columns >> 16) | from.rows << 16,
                      (int)((unsigned)from.rows >> 16) | STEP << 16,
                      SIZE,
                      from.pitch,
                      0,
                      0};
    __builtin_amdgcn_tensor_load_to_lds_d2(where, shape, 0);
  }
  template <int N>
  __device__ static void wait() {
    __builtin_amdgcn_s_wait_tensorcnt(N);
    MEMORY();
  }
};

template <typename Mover>
__device__ inline void move(Slot &slot, Rows a, Rows b) {
  Mover::move(slot.a, a, 0);
  Mover::move(slot.b, b, 1);
}
