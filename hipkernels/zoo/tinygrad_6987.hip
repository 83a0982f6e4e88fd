// A generated index in an int: of the last workgroups of a large grid it is negative.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(unsigned char *y, int group, long long base) {
  long long index = FIXED ? (long long)group * 96 + 3 * threadIdx.x : (long long)(int)((unsigned)group * 96u + 3 * threadIdx.x);
  y[index - base] = 1;
  y[index - base + 1] = 1;
  y[index - base + 2] = 1;  // here
}
BOTH_OF(32, (unsigned char *y, int group, long long base), y, group, base)
