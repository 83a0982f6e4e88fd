// Buffer loads with 32-bit offsets of a large tensor: those of 2^31 or more are beyond the resource's range and give 0.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned short *x, unsigned short *y, long skipped, int stride) {
  const unsigned short *tensor = x - skipped;  // of which only the end is there
  int row = blockIdx.x, t = threadIdx.x;
  long at = (long)(row + 31) * stride + t;
  unsigned value;
  if (FIXED) {
    value = tensor[at];
  } else {
    unsigned long long base = (unsigned long long)tensor;
    i32x4 resource = {(int)base, (int)(base >> 32), 0x7ffffffe, 0x00027000};
    asm volatile("s_nop 4\n buffer_load_ushort %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)" : "=v"(value) : "v"((int)(2 * at)), "s"(resource) : "memory");  // here
  }
  y[64 * row + t] = value;
}
BOTH_OF(64, (const unsigned short *x, unsigned short *y, long skipped, int stride), x, y, skipped, stride)
