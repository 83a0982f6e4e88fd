// v_dot4_i32_i8 is on gfx11 an alias of v_dot4_i32_iu8, whose operands are unsigned unless NEG_LO says otherwise.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const int *q, const int *k, int *y) {
  int t = threadIdx.x, dot;
  if (FIXED) asm volatile("v_dot4_i32_iu8 %0, %1, %2, 0 neg_lo:[1,1,0]" : "=v"(dot) : "v"(q[t]), "v"(k[t]));
  else asm volatile("v_dot4_i32_i8 %0, %1, %2, 0" : "=v"(dot) : "v"(q[t]), "v"(k[t]));  // here
  y[t] = dot;
}
BOTH_OF(64, (const int *q, const int *k, int *y), q, k, y)
