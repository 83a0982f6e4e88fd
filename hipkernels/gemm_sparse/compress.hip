// 4:2 compression: of every four elements of a row the two largest by magnitude are kept, of equal ones the first.
//
// A thread has 16 elements, 32 bytes: it stores eight kept ones, 16 bytes, and their positions, 16 bits. Magnitudes are
// compared as integers, so that a NaN is larger than an infinity.
#include <hip/hip_runtime.h>

typedef __attribute__((ext_vector_type(8))) unsigned short codes8;

extern "C" __global__ void __launch_bounds__(256)
    compress(const unsigned short *A, unsigned short *Kept, unsigned short *Index, unsigned count) {
  const unsigned at = blockIdx.x * 256 + threadIdx.x;
  if (at >= count) return;
  const codes8 *from = (const codes8 *)A + 2 * (size_t)at;
  const codes8 four[2] = {from[0], from[1]};
  codes8 kept;
  unsigned positions = 0;
#pragma unroll
  for (unsigned group = 0; group < 4; ++group) {
    unsigned code[4], size[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      code[i] = four[group / 2][group % 2 * 4 + i];
      size[i] = code[i] & 0x7fff;
    }
    // An element is kept if fewer than two of the others come before it.
    unsigned first = 4, second = 4;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      unsigned before = 0;
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) before += j < i ? size[j] >= size[i] : size[j] > size[i];
      if (before < 2) {
        if (first == 4)
          first = i;
        else
          second = i;
      }
    }
    unsigned low = code[0], high = code[1];
#pragma unroll
    for (unsigned i = 1; i < 4; ++i) {
      low = first == i ? code[i] : low;
      high = second == i ? code[i] : high;
    }
    kept[2 * group] = low;
    kept[2 * group + 1] = high;
    positions |= (first | second << 2) << 4 * group;
  }
  ((codes8 *)Kept)[at] = kept;
  Index[at] = positions;
}
