// Exchange between the lanes of a wave: shuffles, votes, lane numbers.
#pragma once

#include <mfmasim/coordinates.h>
#include <mfmasim/qualifiers.h>
#include <stdint.h>

MFMASIM_DEVICE unsigned int __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

namespace mfmasim {

// A value of any size, word by word, from the lane with this number.
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ from_lane(T_ value, int lane) {
  constexpr unsigned words = (sizeof(T_) + 3) / 4;
  int word[words] = {};
  __builtin_memcpy(word, &value, sizeof(T_));
  for (unsigned i = 0; i < words; ++i) word[i] = __builtin_amdgcn_ds_bpermute(lane << 2, word[i]);
  __builtin_memcpy(&value, word, sizeof(T_));
  return value;
}

template <typename T_>
MFMASIM_MEMBER_DEVICE bool same_bits(T_ a, T_ b) {
  constexpr unsigned words = (sizeof(T_) + 3) / 4;
  int mine[words] = {}, other[words] = {}, differ = 0;
  __builtin_memcpy(mine, &a, sizeof(T_));
  __builtin_memcpy(other, &b, sizeof(T_));
  for (unsigned i = 0; i < words; ++i) differ |= mine[i] ^ other[i];
  return differ == 0;
}

}  // namespace mfmasim

// `width` lanes form a group, a power of two; a source outside the group leaves the lane its own value.
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ __shfl(T_ value, int source, int width = warpSize) {
  int self = __lane_id();
  return mfmasim::from_lane(value, (source & (width - 1)) + (self & ~(width - 1)));
}
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ __shfl_up(T_ value, unsigned int delta, int width = warpSize) {
  int self = __lane_id(), index = self - (int)delta;
  return mfmasim::from_lane(value, index < (self & ~(width - 1)) ? self : index);
}
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ __shfl_down(T_ value, unsigned int delta, int width = warpSize) {
  int self = __lane_id();
  return mfmasim::from_lane(value, (self & (width - 1)) + (int)delta >= width ? self : self + (int)delta);
}
template <typename T_>
MFMASIM_MEMBER_DEVICE T_ __shfl_xor(T_ value, int mask, int width = warpSize) {
  int self = __lane_id(), index = self ^ mask;
  return mfmasim::from_lane(value, index >= ((self + width) & ~(width - 1)) ? self : index);
}

// The masked forms of newer HIP; the mask names lanes that all take part, so it changes nothing here.
#define MFMASIM_SYNC(name, argument)                                                                     \
  template <typename M_, typename T_>                                                                    \
  MFMASIM_MEMBER_DEVICE T_ name##_sync(M_ mask, T_ value, argument which, int width = warpSize) {        \
    static_assert(sizeof(M_) == 8, "mfmasim: " #name "_sync takes a 64-bit mask of lanes, as HIP does"); \
    (void)mask;                                                                                          \
    return name(value, which, width);                                                                    \
  }
MFMASIM_SYNC(__shfl, int)
MFMASIM_SYNC(__shfl_up, unsigned int)
MFMASIM_SYNC(__shfl_down, unsigned int)
MFMASIM_SYNC(__shfl_xor, int)
#undef MFMASIM_SYNC

// One bit per lane of the wave; a wave of 32 leaves the upper half zero.
MFMASIM_DEVICE unsigned long long __ballot(int predicate) {
  constexpr int not_equal = 33;  // LLVM's ICMP_NE; unlike ballot_w32 and ballot_w64 this fits either wave size
  return __builtin_amdgcn_uicmp((unsigned)predicate, 0u, not_equal);
}
MFMASIM_DEVICE unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
MFMASIM_DEVICE unsigned long long __activemask() { return __ballot(1); }
MFMASIM_DEVICE int __any(int predicate) { return __ballot(predicate) != 0; }
MFMASIM_DEVICE int __all(int predicate) { return __ballot(!predicate) == 0; }
MFMASIM_DEVICE unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
MFMASIM_DEVICE unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }
MFMASIM_DEVICE unsigned long long __lanemask_gt() { return ~(__lanemask_lt() | __lanemask_eq()); }

template <typename M_>
MFMASIM_MEMBER_DEVICE unsigned long long __ballot_sync(M_ mask, int predicate) {
  return __ballot(predicate) & mask;
}
template <typename M_>
MFMASIM_MEMBER_DEVICE int __any_sync(M_ mask, int predicate) {
  return (__ballot(predicate) & mask) != 0;
}
template <typename M_>
MFMASIM_MEMBER_DEVICE int __all_sync(M_ mask, int predicate) {
  return (__ballot(!predicate) & mask) == 0;
}

// Lanes that hold the same bits as this one.
template <typename T_>
MFMASIM_MEMBER_DEVICE unsigned long long __match_any(T_ value) {
  unsigned long long mine = 0;
  for (unsigned long long open = __activemask(); open;) {
    int leader = __builtin_ctzll(open);
    T_ theirs = mfmasim::from_lane(value, leader);
    bool same = mfmasim::same_bits(theirs, value);
    unsigned long long members = __ballot(same) & open;
    if (same) mine = members;
    open &= ~members;
  }
  return mine;
}
// The whole mask where all lanes hold the same, else zero; `all` says which.
template <typename T_>
MFMASIM_MEMBER_DEVICE unsigned long long __match_all(T_ value, int *all) {
  unsigned long long active = __activemask();
  *all = __match_any(value) == active;
  return *all ? active : 0;
}
template <typename M_, typename T_>
MFMASIM_MEMBER_DEVICE unsigned long long __match_any_sync(M_ mask, T_ value) {
  return __match_any(value) & mask;
}
template <typename M_, typename T_>
MFMASIM_MEMBER_DEVICE unsigned long long __match_all_sync(M_ mask, T_ value, int *all) {
  unsigned long long lanes = mask & __activemask();
  *all = (__match_any(value) & lanes) == lanes;
  return *all ? lanes : 0;
}
