// C = A B^T with A [M,K] and B [N,K] in f16, row-major, C [M,N] in f32: seven kernels, each with one idea more.
#include "movers.h"

#define KERNEL(NAME) \
  extern "C" __global__ void __launch_bounds__(32 * WAVES) NAME(const half *A, const half *B, float *C, int M, int N, int K)

// Every lane reads its fragments from memory.
KERNEL(naive) {
  const int row = blockIdx.y * SIZE, column = blockIdx.x * SIZE;
  const half *a = A + (size_t)(row + wave() / 2 * 32) * K, *b = B + (size_t)(column + wave() % 2 * 32) * K;
  Sums sums;
  for (int k = 0; k < K; k += STEP)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        sums.of[i][j] = product(fragment(a + k + 16 * i * K, K), fragment(b + k + 16 * j * K, K), sums.of[i][j]);
  store(sums, C, M, N, row, column);
}

// One slot of the LDS: move, wait, meet, multiply, meet.
template <typename Mover>
__device__ void one_slot(const half *A, const half *B, float *C, int M, int N, int K) {
  __shared__ Slot slot;
  const int row = blockIdx.y * SIZE, column = blockIdx.x * SIZE;
  const Rows a = rows_of(A, M, K, row), b = rows_of(B, N, K, column);
  Sums sums;
  for (int k = 0; k < K; k += STEP) {
    move<Mover>(slot, a.at(k), b.at(k));
    Mover::template wait<0>();  // arrived
    __syncthreads();            // moved by all
    multiply(slot, sums);
    __syncthreads();  // read by all
  }
  store(sums, C, M, N, row, column);
}

KERNEL(lds) { one_slot<Registers>(A, B, C, M, N, K); }
KERNEL(async) { one_slot<Async>(A, B, C, M, N, K); }
KERNEL(tensor) { one_slot<Tensor>(A, B, C, M, N, K); }

// Two slots: the next step is on its way while this one is multiplied.
KERNEL(two_slots) {
  __shared__ Slot slots[2];
  const int row = blockIdx.y * SIZE, column = blockIdx.x * SIZE;
  const Rows a = rows_of(A, M, K, row), b = rows_of(B, N, K, column);
  Sums sums;
  move<Tensor>(slots[0], a, b);
  for (int k = 0, now = 0; k < K; k += STEP, now ^= 1) {
    if (k + STEP < K) {
      move<Tensor>(slots[now ^ 1], a.at(k + STEP), b.at(k + STEP));
      Tensor::wait<1>();  // of two steps the older one arrived
    } else {
      Tensor::wait<0>();
    }
    __syncthreads();  // moved by all
    multiply(slots[now], sums);
    __syncthreads();  // read by all
  }
  store(sums, C, M, N, row, column);
}

// Split barriers: a wave that has read a slot says so, and waits for the others only when the slot is to be filled again.
__device__ void split_steps(Slot (&slots)[2], Rows a, Rows b, int K, Sums &sums, bool together) {
  move<Tensor>(slots[0], a, b);
  for (int k = 0, now = 0; k < K; k += STEP, now ^= 1) {
    if (k) WAIT();  // the other slot was read by all
    if (together) {
      if (wave() == 0) __builtin_amdgcn_s_barrier_signal(-3);
      __builtin_amdgcn_s_barrier_wait(-3);  // in every workgroup of the cluster
    }
    if (k + STEP < K) {
      move<Tensor>(slots[now ^ 1], a.at(k + STEP), b.at(k + STEP));
      Tensor::wait<1>();
    } else {
      Tensor::wait<0>();
    }
    SIGNAL();
    WAIT();  // moved by all
    MEMORY();
    multiply(slots[now], sums);
    READ();
    SIGNAL();  // this slot was read
  }
  WAIT();
}

KERNEL(split) {
  __shared__ Slot slots[2];
  const int row = blockIdx.y * SIZE, column = blockIdx.x * SIZE;
  Sums sums;
  split_steps(slots, rows_of(A, M, K, row), rows_of(B, N, K, column), K, sums, false);
  store(sums, C, M, N, row, column);
}

// Clusters of two by two workgroups: those of a row of the grid need the same rows of A, those of a column the same of B,
// and each tile is requested once for both.
extern "C" __global__ void __launch_bounds__(32 * WAVES) __attribute__((cluster_dims(2, 2, 1)))
cluster(const half *A, const half *B, float *C, int M, int N, int K) {
  __shared__ Slot slots[2];
  const int row = blockIdx.y * SIZE, column = blockIdx.x * SIZE;
  const unsigned x = __builtin_amdgcn_cluster_workgroup_id_x(), y = __builtin_amdgcn_cluster_workgroup_id_y();
  const unsigned same_row = 0b0011 << 2 * y, same_column = 0b0101 << x;
  Sums sums;
  split_steps(slots, rows_of(A, M, K, row, same_row), rows_of(B, N, K, column, same_column), K, sums, true);
  store(sums, C, M, N, row, column);
}
