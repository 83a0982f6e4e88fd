// amd_mixed_dot of integers: products of 2, 4 or 8 elements and an accumulator, whose sum wraps or saturates.
// Names: amd_math_functions.h of HIP.
#pragma once

#include <mfmasim/vectors.h>

namespace mfmasim {

MFMASIM_DEVICE int dot_sum(long long sum, bool saturate, int) {
  return (int)(saturate && sum > 0x7fffffffll ? 0x7fffffffll : saturate && sum < -0x80000000ll ? -0x80000000ll : sum);
}
MFMASIM_DEVICE unsigned int dot_sum(long long sum, bool saturate, unsigned int) {
  return (unsigned int)(saturate && sum > 0xffffffffll ? 0xffffffffll : sum);
}

}  // namespace mfmasim

#define MFMASIM_DOT(T, C, products)                                 \
  MFMASIM_DEVICE C amd_mixed_dot(T a, T b, C c, bool saturate) {    \
    return mfmasim::dot_sum((long long)c + products, saturate, c); \
  }
#define MFMASIM_PRODUCT(C, member) (long long)((C)a.member * (C)b.member)
#define MFMASIM_PAIRS(C) MFMASIM_PRODUCT(C, x) + MFMASIM_PRODUCT(C, y)
MFMASIM_DOT(short2, int, MFMASIM_PAIRS(int))
MFMASIM_DOT(ushort2, unsigned int, MFMASIM_PAIRS(unsigned int))
MFMASIM_DOT(char4, int, MFMASIM_PAIRS(int) + MFMASIM_PRODUCT(int, z) + MFMASIM_PRODUCT(int, w))
MFMASIM_DOT(uchar4, unsigned int, MFMASIM_PAIRS(unsigned int) + MFMASIM_PRODUCT(unsigned int, z) + MFMASIM_PRODUCT(unsigned int, w))
#undef MFMASIM_DOT
#undef MFMASIM_PRODUCT
#undef MFMASIM_PAIRS

// Eight elements of four bits.
#define MFMASIM_DOT_8(C)                                                                                        \
  MFMASIM_DEVICE C amd_mixed_dot(C a, C b, C c, bool saturate) {                                                \
    long long sum = c;                                                                                          \
    for (int i = 28; i >= 0; i -= 4) sum += ((C)((unsigned int)a << i) >> 28) * ((C)((unsigned int)b << i) >> 28); \
    return mfmasim::dot_sum(sum, saturate, c);                                                                  \
  }
MFMASIM_DOT_8(int)
MFMASIM_DOT_8(unsigned int)
#undef MFMASIM_DOT_8
