// Cooperative groups of any size: the block, the grid, and the group that a function takes without knowing which.
// Names: HIP documentation, "Cooperative groups".
#pragma once

#include <mfmasim/coordinates.h>
#include <mfmasim/lane_reductions.h>
#include <mfmasim/synchronisation.h>

namespace mfmasim {

// Work-item of the block, x first, and how many there are.
MFMASIM_DEVICE unsigned int block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
MFMASIM_DEVICE unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Where the workgroups of a cooperative launch meet: how many have come, and how often all did. Null in other launches,
// in which a workgroup may wait for one that has not started.
MFMASIM_DEVICE uint32_t *grid_meeting() {
  typedef uint32_t *const __attribute__((address_space(4))) *hidden_arguments;
  constexpr uint32_t place = 11;  // hidden_multigrid_sync_arg, code object v5 and later
  return ((hidden_arguments)__builtin_amdgcn_implicitarg_ptr())[place];
}

static __device__ __attribute__((noinline, nodebug)) void meet(uint32_t *meeting, uint32_t blocks) {
  uint32_t *times = meeting + 1, before = __hip_atomic_load(times, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (__hip_atomic_fetch_add(meeting, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) == blocks - 1) {
    __hip_atomic_store(meeting, 0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(times, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
  }
  while (__hip_atomic_load(times, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == before) __builtin_amdgcn_s_sleep(1);
}

MFMASIM_DEVICE void grid_barrier() {
  uint32_t *meeting = grid_meeting();
  if (!meeting) mfmasim_trap();  // not a cooperative launch
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_barrier();
  if (block_rank() == 0) meet(meeting, gridDim.x * gridDim.y * gridDim.z);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
}

enum class group_kind { block, wave };

}  // namespace mfmasim

namespace cooperative_groups {

class coalesced_group;

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
  friend __device__ coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size);
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
  static __device__ bool is_valid() { return mfmasim::grid_meeting() != nullptr; }
  static __device__ void sync() { mfmasim::grid_barrier(); }
};
static __device__ inline grid_group this_grid() { return grid_group(); }

// hipLaunchCooperativeKernelMultiDevice is not served: a launch is the only grid of its group.
class multi_grid_group : public grid_group {
 public:
  static __device__ unsigned int num_grids() { return 1; }
  static __device__ unsigned int grid_rank() { return 0; }
};
static __device__ inline multi_grid_group this_multi_grid() { return multi_grid_group(); }

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
__device__ inline auto thread_rank(const Group_ &group) -> decltype(group.thread_rank()) { return group.thread_rank(); }
template <typename Group_>
__device__ inline auto group_size(const Group_ &group) -> decltype(group.size()) { return group.size(); }
template <typename Group_>
__device__ inline bool is_valid(const Group_ &group) { return group.is_valid(); }

}  // namespace cooperative_groups
