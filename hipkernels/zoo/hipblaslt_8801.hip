// The byte offset of a store wraps at 4 GiB: rows of D from there on go into its first rows.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *D, unsigned row, unsigned stride, long skipped) {
  unsigned t = threadIdx.x, at = (row + blockIdx.x) * stride + t;
  float *all = D - skipped;  // of which only the end is there
  if (FIXED) {
    all[(long)at] = blockIdx.x + 1;
    return;
  }
  unsigned long long base = (unsigned long long)all;
  i32x4 resource = {(int)base, (int)(base >> 32), -1, 0x00027000};
  float value = blockIdx.x + 1;
  asm volatile("s_nop 4\n buffer_store_dword %0, %1, %2, 0 offen" ::"v"(value), "v"(4 * at), "s"(resource) : "memory");  // here
}
BOTH_OF(64, (float *D, unsigned row, unsigned stride, long skipped), D, row, stride, skipped)
