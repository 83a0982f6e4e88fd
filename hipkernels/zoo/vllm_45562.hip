// A KV cache of gfx942 (FNUZ), whose bytes are converted as OCP's E4M3: a binade off, and -0 for NaN.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned char *cache, float *y) {
  unsigned code = cache[threadIdx.x], exponent = code >> 3 & 15, mantissa = code & 7;
  int bias = FIXED ? 8 : 7;
  float value = exponent ? (8 + mantissa) * __builtin_ldexpf(1, (int)exponent - bias - 3) : mantissa * __builtin_ldexpf(1, -bias - 2);
  if (code == 128 && FIXED) value = __builtin_nanf("");
  y[threadIdx.x] = code >> 7 ? -value : value;  // here
}
BOTH_OF(256, (const unsigned char *cache, float *y), cache, y)
