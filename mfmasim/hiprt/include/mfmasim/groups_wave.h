// Cooperative groups inside a wave: tiles whose size is known to the compiler, and the lanes that are active.
#pragma once

#include <mfmasim/groups.h>

namespace mfmasim {

__device__ __attribute__((error("mfmasim: a tile cannot be larger than a wave"))) void tile_beyond_wave();

}  // namespace mfmasim

namespace cooperative_groups {

// Any set of lanes, in the order of their numbers.
class coalesced_group : public thread_group {
 public:
  __device__ explicit coalesced_group(unsigned long long mask, unsigned int number = 0, unsigned int parts = 1)
      : thread_group(mfmasim::group_kind::wave, __builtin_popcountll(mask), mask), number_(number), parts_(parts) {}
  __device__ void sync() const { __syncwarp(); }
  __device__ unsigned int meta_group_rank() const { return number_; }
  __device__ unsigned int meta_group_size() const { return parts_; }

  // A rank outside the group leaves the lane its own value.
  template <typename T_>
  __device__ T_ shfl(T_ value, int rank) const {
    int self = __lane_id();
    return mfmasim::from_lane(value, (unsigned)rank < size_ ? mfmasim::set_bit(mask_, rank) : self);
  }
  template <typename T_>
  __device__ T_ shfl_down(T_ value, unsigned int delta) const { return shfl(value, (int)(thread_rank() + delta)); }
  template <typename T_>
  __device__ T_ shfl_up(T_ value, unsigned int delta) const { return shfl(value, (int)(thread_rank() - delta)); }

  __device__ unsigned long long ballot(int predicate) const { return ranks(__ballot(predicate)); }
  __device__ int any(int predicate) const { return (__ballot(predicate) & mask_) != 0; }
  __device__ int all(int predicate) const { return (__ballot(!predicate) & mask_) == 0; }
  template <typename T_>
  __device__ unsigned long long match_any(T_ value) const { return ranks(__match_any_sync(mask_, value)); }
  template <typename T_>
  __device__ unsigned long long match_all(T_ value, int &all) const {
    return ranks(__match_all_sync(mask_, value, &all));
  }

  friend __device__ coalesced_group binary_partition(const coalesced_group &group, bool predicate);

 private:
  // The members among `lanes`, by their ranks.
  __device__ unsigned long long ranks(unsigned long long lanes) const {
    unsigned long long result = 0, members = mask_;
    for (unsigned int rank = 0; rank < size_; ++rank, members &= members - 1)
      result |= (unsigned long long)((lanes & members & -members) != 0) << rank;
    return result;
  }
  unsigned int number_, parts_;  // of this group among the parts of its parent
};
static __device__ inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

__device__ inline coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size) {
  thread_group part = tiled_partition((const thread_group &)parent, size);
  return coalesced_group(part.mask_, parent.thread_rank() / size, (parent.size() + size - 1) / size);
}

__device__ inline coalesced_group binary_partition(const coalesced_group &group, bool predicate) {
  unsigned long long yes = __ballot(predicate);
  return coalesced_group(group.mask_ & (predicate ? yes : ~yes));
}

}  // namespace cooperative_groups

namespace mfmasim {

// What a tile is a part of: a block, or a larger tile.
template <class Parent_>
struct whole : Parent_ {};
template <>
struct whole<void> : cooperative_groups::thread_block {};

}  // namespace mfmasim

namespace cooperative_groups {

// `Size_` consecutive work-items of a block.
template <unsigned int Size_, class Parent_ = void>
class thread_block_tile : public thread_group {
  static_assert(Size_ >= 1 && Size_ <= 64 && (Size_ & (Size_ - 1)) == 0, "mfmasim: a tile has 1, 2, 4, ... 64 work-items");
  static constexpr unsigned long long ones = Size_ == 64 ? ~0ull : (1ull << Size_ % 64) - 1;
  static __device__ unsigned int first_lane() { return __lane_id() & ~(Size_ - 1); }

 public:
  __device__ thread_block_tile()
      : thread_group(mfmasim::group_kind::wave, Size_, ones << first_lane()),
        number_(mfmasim::whole<Parent_>::thread_rank() / Size_),
        tiles_((mfmasim::whole<Parent_>::size() + Size_ - 1) / Size_) {
    if (Size_ > (unsigned)__builtin_amdgcn_wavefrontsize()) mfmasim::tile_beyond_wave();
  }
  // A tile of any parent converts to one whose type does not say which.
  template <class Other_>
  __device__ thread_block_tile(const thread_block_tile<Size_, Other_> &other)
      : thread_group(other), number_(other.meta_group_rank()), tiles_(other.meta_group_size()) {}
  static constexpr __device__ unsigned int size() { return Size_; }
  static constexpr __device__ unsigned int num_threads() { return Size_; }
  static __device__ unsigned int thread_rank() { return __lane_id() & (Size_ - 1); }
  __device__ unsigned int meta_group_rank() const { return number_; }
  __device__ unsigned int meta_group_size() const { return tiles_; }
  static __device__ void sync() { __syncwarp(); }

  template <typename T_>
  __device__ T_ shfl(T_ value, int rank) const { return __shfl(value, rank, Size_); }
  template <typename T_>
  __device__ T_ shfl_up(T_ value, unsigned int delta) const { return __shfl_up(value, delta, Size_); }
  template <typename T_>
  __device__ T_ shfl_down(T_ value, unsigned int delta) const { return __shfl_down(value, delta, Size_); }
  template <typename T_>
  __device__ T_ shfl_xor(T_ value, unsigned int mask) const { return __shfl_xor(value, (int)mask, Size_); }

  __device__ unsigned long long ballot(int predicate) const { return __ballot(predicate) >> first_lane() & ones; }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(!predicate) == 0; }
  template <typename T_>
  __device__ unsigned long long match_any(T_ value) const {
    return __match_any(value) >> first_lane() & ones;
  }
  template <typename T_>
  __device__ unsigned long long match_all(T_ value, int &all) const {
    return __match_all_sync(ones << first_lane(), value, &all) >> first_lane();
  }

 private:
  unsigned int number_, tiles_;  // of this tile in its parent, and how many there are
};

template <unsigned int Size_>
__device__ inline thread_block_tile<Size_, thread_block> tiled_partition(const thread_block &) { return {}; }
template <unsigned int Size_, unsigned int Parents_, class Parent_>
__device__ inline thread_block_tile<Size_, thread_block_tile<Parents_, Parent_>> tiled_partition(
    const thread_block_tile<Parents_, Parent_> &) {
  static_assert(Size_ <= Parents_, "mfmasim: a tile's part cannot be larger than the tile");
  return {};
}
template <unsigned int Size_, class Parent_>
__device__ inline coalesced_group binary_partition(const thread_block_tile<Size_, Parent_> &tile, bool predicate) {
  unsigned int first = __lane_id() & ~(Size_ - 1);
  unsigned long long yes = tile.ballot(predicate), all = tile.ballot(1);
  return coalesced_group((predicate ? yes : all & ~yes) << first);
}

// Reductions: every member gets the result.
#define MFMASIM_OPERATOR(name, expression)                              \
  template <typename T_ = void>                                         \
  struct name {                                                         \
    __device__ T_ operator()(T_ a, T_ b) const { return (expression); } \
  };
MFMASIM_OPERATOR(plus, a + b)
MFMASIM_OPERATOR(less, a < b ? a : b)
MFMASIM_OPERATOR(greater, a > b ? a : b)
MFMASIM_OPERATOR(bit_and, a &b)
MFMASIM_OPERATOR(bit_or, a | b)
MFMASIM_OPERATOR(bit_xor, a ^ b)
#undef MFMASIM_OPERATOR

template <unsigned int Size_, class Parent_, typename T_, typename Operator_>
__device__ inline T_ reduce(const thread_block_tile<Size_, Parent_> &tile, T_ value, Operator_ combine) {
  for (unsigned int step = Size_ / 2; step; step /= 2) value = combine(value, tile.shfl_xor(value, step));
  return value;
}
template <typename T_, typename Operator_>
__device__ inline T_ reduce(const coalesced_group &group, T_ value, Operator_ combine) {
  T_ result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.size(); ++rank) result = combine(result, group.shfl(value, (int)rank));
  return result;
}

}  // namespace cooperative_groups
