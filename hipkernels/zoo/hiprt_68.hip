// The mask of a group of four lanes, shifted as a 32-bit number: lanes from 32 on have none.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *x, int *y) {
  unsigned lane = threadIdx.x, group = lane / 4;
  unsigned long long mask = FIXED ? 15ull << (4 * group) : (unsigned long long)(((1 << 4) - 1) << (4 * group & 31)) & (group < 8 ? ~0ull : 0);
  unsigned long long set = __ballot(x[lane] > 0);
  y[lane] = __popcll(set & mask);  // here
}
BOTH_OF(64, (const int *x, int *y), x, y)
