// Values of all lanes of a mask combined, every one of them getting the result: __reduce_add_sync and its siblings.
// Names and the order of the sums, pairs of neighbours first: amd_warp_sync_functions.h of HIP 7. With gaps in the mask
// that header combines AND, OR and XOR as truth values; here they are of bits, as without gaps and in CUDA.
#pragma once

#include <mfmasim/lanes.h>

namespace mfmasim {

// Lane that holds the n-th set bit, counted from zero; all of them lie below bit 64.
MFMASIM_DEVICE int set_bit(unsigned long long mask, unsigned int n) {
  int place = 0;
  for (int step = 32; step; step >>= 1) {
    unsigned int below = __builtin_popcountll(mask >> place & ((1ull << step) - 1));
    if (n >= below) n -= below, place += step;
  }
  return place;
}

template <typename M_, typename T_, typename F_>
MFMASIM_MEMBER_DEVICE T_ reduce_lanes(M_ mask, T_ value, F_ combine) {
  static_assert(sizeof(M_) == 8, "mfmasim: a reduction takes a 64-bit mask of lanes, as HIP does");
  unsigned long long lanes = mask & __activemask();
  unsigned int count = __builtin_popcountll(lanes), rank = __builtin_popcountll(lanes & __lanemask_lt());
  for (unsigned int step = 1; step < count; step *= 2) {
    bool inside = rank + step < count;
    T_ other = from_lane(value, set_bit(lanes, inside ? rank + step : rank));
    if (inside && rank % (2 * step) == 0) value = combine(value, other);
  }
  return from_lane(value, __builtin_ctzll(lanes));
}

}  // namespace mfmasim

#define MFMASIM_REDUCE(name, T, expression)                                              \
  template <typename M_>                                                                 \
  MFMASIM_MEMBER_DEVICE T __reduce_##name##_sync(M_ mask, T value) {                     \
    return mfmasim::reduce_lanes(mask, value, [](T a, T b) -> T { return expression; }); \
  }
#define MFMASIM_REDUCE_NUMBERS(T)      \
  MFMASIM_REDUCE(add, T, a + b)        \
  MFMASIM_REDUCE(min, T, b < a ? b : a) \
  MFMASIM_REDUCE(max, T, a < b ? b : a)
#define MFMASIM_REDUCE_BITS(T) \
  MFMASIM_REDUCE(and, T, a &b) \
  MFMASIM_REDUCE(or, T, a | b) \
  MFMASIM_REDUCE(xor, T, a ^ b)
MFMASIM_REDUCE_NUMBERS(int)
MFMASIM_REDUCE_NUMBERS(unsigned int)
MFMASIM_REDUCE_BITS(unsigned int)
#if defined(HIP_ENABLE_EXTRA_WARP_SYNC_TYPES)
MFMASIM_REDUCE_NUMBERS(long long)
MFMASIM_REDUCE_NUMBERS(unsigned long long)
MFMASIM_REDUCE_NUMBERS(float)
MFMASIM_REDUCE_NUMBERS(double)
MFMASIM_REDUCE_BITS(int)
MFMASIM_REDUCE_BITS(long long)
MFMASIM_REDUCE_BITS(unsigned long long)
#endif
#undef MFMASIM_REDUCE
#undef MFMASIM_REDUCE_NUMBERS
#undef MFMASIM_REDUCE_BITS
