// The size of a buffer in 32 bits wraps: loads beyond it give 0 without an error.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const float *x, float *y, int length, int stride, long long skipped) {
  long long elements = FIXED ? 1 + (long long)(length - 1) * stride : (long long)(1 + (length - 1) * stride);
  // The test has the last elements of the tensor alone: the base of the resource is those before them further on.
  long long rest = (elements - skipped) * 4;
  unsigned long long base = (unsigned long long)x;
  unsigned records = rest < 0 ? (unsigned)(elements * 4) : (unsigned)rest;
  i32x4 resource = {(int)base, (int)(base >> 32), (int)records, 0x00020000};
  float value;
  asm volatile(  // here
      "s_nop 4\n buffer_load_dword %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
      : "=v"(value) : "v"(4 * threadIdx.x), "s"(resource) : "memory");
  y[threadIdx.x] = value;
}
BOTH_OF(64, (const float *x, float *y, int length, int stride, long long skipped), x, y, length, stride, skipped)
