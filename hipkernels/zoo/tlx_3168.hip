// A matrix instruction in inline assembly, which the compiler's search for hazards does not see, and its D read at once.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(float *y) {
  f16x8 ones;
  for (int i = 0; i < 8; i++) ones[i] = 1;
  f32x4 d;
  asm volatile("s_nop 1\n v_mfma_f32_16x16x32_f16 %0, %1, %1, 0" : "=&v"(d) : "v"(ones));
  if (FIXED) asm volatile("s_nop 11" : "+v"(d));
  asm volatile("v_add_f32 %0, %0, 1.0" : "+v"(d[3]));  // here
  y[threadIdx.x] = d[3];
}
BOTH_OF(64, (float *y), y)
