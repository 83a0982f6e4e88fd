// Cooperative groups of any size: the block, the grid, and the group that a function takes without knowing which.
// Names: HIP documentation, "Cooperative groups".
#pragma once

#include <mfmasim/coordinates.h>
#include <mfmasim/lanes.h>
#include <mfmasim/synchronisation.h>

namespace mfmasim {

// Work-item of the block, x first, and how many there are.
MFMASIM_DEVICE unsigned int block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
MFMASIM_DEVICE unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Lane that holds the n-th set bit, counted from zero; all of them lie below bit 64.
MFMASIM_DEVICE int set_bit(unsigned long long mask, unsigned int n) {
  int place = 0;
  for (int step = 32; step; step >>= 1) {
    unsigned int below = __builtin_popcountll(mask >> place & ((1ull << step) - 1));
    if (n >= below) n -= below, place += step;
  }
  return place;
}

// A barrier over the grid needs all workgroups resident, which only a cooperative launch grants.
__device__ __attribute__((error("mfmasim: grid_group::sync needs a cooperative launch, which is not supported"))) void
grid_barrier();

enum class group_kind { block, wave };

}  // namespace mfmasim

namespace cooperative_groups {

// What every group can do; a tile or a block converts to it.
class thread_group {
 public:
  __device__ unsigned int size() const { return size_; }
  __device__ unsigned int num_threads() const { return size_; }
  __device__ unsigned int thread_rank() const {
    if (kind_ == mfmasim::group_kind::block) return mfmasim::block_rank();
    return __builtin_popcountll(mask_ & __lanemask_lt());
  }
  __device__ bool is_valid() const { return true; }
  __device__ void sync() const {
    if (kind_ == mfmasim::group_kind::block) __syncthreads();
    else __syncwarp();
  }

 protected:
  __device__ thread_group(mfmasim::group_kind kind, unsigned int size, unsigned long long mask)
      : kind_(kind), size_(size), mask_(mask) {}
  mfmasim::group_kind kind_;
  unsigned int size_;
  unsigned long long mask_;  // lanes of the wave that belong to it

  friend __device__ thread_group tiled_partition(const thread_group &parent, unsigned int size);
};

class thread_block : public thread_group {
 public:
  __device__ thread_block() : thread_group(mfmasim::group_kind::block, mfmasim::block_threads(), 0) {}
  static __device__ unsigned int size() { return mfmasim::block_threads(); }
  static __device__ unsigned int num_threads() { return mfmasim::block_threads(); }
  static __device__ unsigned int thread_rank() { return mfmasim::block_rank(); }
  static __device__ dim3 group_index() { return blockIdx; }
  static __device__ dim3 thread_index() { return threadIdx; }
  static __device__ dim3 group_dim() { return blockDim; }
  static __device__ dim3 dim_threads() { return blockDim; }
  static __device__ void sync() { __syncthreads(); }
};
static __device__ inline thread_block this_thread_block() { return thread_block(); }

// Known, but not launched cooperatively: it can count and cannot wait.
class grid_group {
 public:
  static __device__ unsigned long long size() { return num_blocks() * mfmasim::block_threads(); }
  static __device__ unsigned long long num_threads() { return size(); }
  static __device__ unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static __device__ unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static __device__ unsigned long long thread_rank() {
    return block_rank() * mfmasim::block_threads() + mfmasim::block_rank();
  }
  static __device__ dim3 group_dim() { return gridDim; }
  static __device__ dim3 dim_blocks() { return gridDim; }
  static __device__ dim3 block_index() { return blockIdx; }
  static __device__ bool is_valid() { return false; }
  static __device__ void sync() { mfmasim::grid_barrier(); }
};
static __device__ inline grid_group this_grid() { return grid_group(); }

// Groups of `size` consecutive work-items, a power of two that divides a wave.
__device__ inline thread_group tiled_partition(const thread_group &parent, unsigned int size) {
  unsigned int first = parent.thread_rank() & ~(size - 1);
  if (parent.kind_ == mfmasim::group_kind::wave) {
    unsigned long long mask = parent.mask_;
    for (unsigned int i = 0; i < first; ++i) mask &= mask - 1;
    unsigned long long rest = mask;
    for (unsigned int i = 0; i < size; ++i) rest &= rest - 1;
    return thread_group(parent.kind_, size, mask & ~rest);
  }
  unsigned int lane = __lane_id() & ~(size - 1);
  unsigned long long ones = size >= 64 ? ~0ull : (1ull << size) - 1;
  return thread_group(mfmasim::group_kind::wave, size, ones << lane);
}

template <typename Group_>
__device__ inline void sync(const Group_ &group) { group.sync(); }
template <typename Group_>
__device__ inline auto thread_rank(const Group_ &group) { return group.thread_rank(); }
template <typename Group_>
__device__ inline auto group_size(const Group_ &group) { return group.size(); }
template <typename Group_>
__device__ inline bool is_valid(const Group_ &group) { return group.is_valid(); }

}  // namespace cooperative_groups
