#include <hip/hip_runtime.h>
// Writes the bits of every number that it got, and adds one to each word of an array.
extern "C" __global__ void bits(float f, double d, int i, unsigned short s, long long l, bool b, unsigned *out, unsigned *words, int count) {
  out[0] = __builtin_bit_cast(unsigned, f);
  out[1] = (unsigned)__builtin_bit_cast(unsigned long long, d);
  out[2] = (unsigned)(__builtin_bit_cast(unsigned long long, d) >> 32);
  out[3] = i;
  out[4] = s;
  out[5] = (unsigned)l;
  out[6] = (unsigned)(l >> 32);
  out[7] = b;
  for (int n = 0; n < count; n++) words[n] += 1;
}
extern "C" __global__ void half(float f, unsigned *out) { *out = __builtin_bit_cast(unsigned, f); }
