// FP4 to bf16 with an E8M0 scale: the scale is added to the exponent's bits, which overflow into the sign.
#include "zoo.h"

// Bits of the bf16 number that an E2M1 code is.
__device__ unsigned bf16_of(unsigned code) {
  unsigned exponent = code >> 1 & 3, fraction = code & 1, sign = (code & 8) << 12;
  unsigned bits = exponent ? (126 + exponent) << 7 | fraction << 6 : fraction * 0x3f00;
  return sign | bits;
}

template <bool FIXED>
__device__ void entry(const unsigned char *codes, const unsigned char *scales, unsigned short *y) {
  unsigned i = blockIdx.x * 256 + threadIdx.x, bits = bf16_of(codes[i]);
  int exponent = scales[i] - 127;
  if (FIXED) {
    unsigned wide = __float_as_uint(__builtin_ldexpf(__uint_as_float(bits << 16), exponent));
    y[i] = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
  } else {
    y[i] = bits & 0x7fff ? bits + (exponent << 7) : bits;  // here
  }
}
BOTH_OF(256, (const unsigned char *codes, const unsigned char *scales, unsigned short *y), codes, scales, y)
