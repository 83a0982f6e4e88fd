// One kernel for each LDS instruction of the architecture, by its own name.
//
// The LDS is filled from `fill`; every lane executes the instruction once, at its own address and with its own data;
// what it received and the whole LDS afterwards are written out. One wave: the order of the lanes is the hardware's.
#include <hip/hip_runtime.h>

#define DWORDS 4096
#define STRIDE 4  // dwords of data, and of results, for each lane

#if defined(__GFX12__)
#define WAIT "\n s_wait_dscnt 0x0"
#else
#define WAIT "\n s_waitcnt lgkmcnt(0)"
#endif
// The first of the operands that every architecture of the family needs nothing in.
#define SET_M0 "s_mov_b32 m0, 0\n s_nop 0\n "

typedef unsigned w1;
typedef unsigned w2 __attribute__((ext_vector_type(2)));
typedef unsigned w3 __attribute__((ext_vector_type(3)));
typedef unsigned w4 __attribute__((ext_vector_type(4)));

template <typename T>
__device__ T take(const unsigned* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
__device__ void give(unsigned* to, T value) {
  __builtin_memcpy(to, &value, sizeof value);
}

#define MICRO(NAME, RESULT, FIRST, SECOND, TEXT)                                                                    \
  extern "C" __global__ __launch_bounds__(64) void NAME(const unsigned* fill, const unsigned* addresses,            \
                                                        const unsigned* data, unsigned* results, unsigned* after) { \
    __shared__ unsigned memory[DWORDS];                                                                             \
    int lane = threadIdx.x;                                                                                         \
    for (int i = lane; i < DWORDS; i += blockDim.x) memory[i] = fill[i];                                            \
    __syncthreads();                                                                                                \
    unsigned address = addresses[lane];                                                                             \
    RESULT result = take<RESULT>(results + lane * STRIDE);                                                          \
    FIRST first = take<FIRST>(data + lane * STRIDE);                                                                \
    SECOND second = take<SECOND>(data + lane * STRIDE + 2);                                                         \
    asm volatile(TEXT WAIT : "+v"(result) : "v"(address), "v"(first), "v"(second), "s"(memory) : "memory");         \
    __syncthreads();                                                                                                \
    give(results + lane * STRIDE, result);                                                                          \
    for (int i = lane; i < DWORDS; i += blockDim.x) after[i] = memory[i];                                           \
  }

#define READ(NAME, T) MICRO(NAME, T, w1, w1, #NAME " %0, %1 offset:32")
#define READ2(NAME, T) MICRO(NAME, T, w1, w1, #NAME " %0, %1 offset0:1 offset1:6")
#define READ_TID(NAME) MICRO(NAME, w1, w1, w1, SET_M0 #NAME " %0 offset:32")
#define WRITE(NAME, T) MICRO(NAME, w1, T, w1, #NAME " %1, %2 offset:32")
#define WRITE2(NAME, T) MICRO(NAME, w1, T, T, #NAME " %1, %2, %3 offset0:1 offset1:6")
#define WRITE_TID(NAME) MICRO(NAME, w1, w1, w1, SET_M0 #NAME " %2 offset:32")
#define ATOMIC(NAME, T) MICRO(NAME, T, T, T, #NAME " %1, %2 offset:32")
#define ATOMIC_RTN(NAME, T) MICRO(NAME, T, T, T, #NAME " %0, %1, %2 offset:32")
#define TWO_DATA(NAME, T) MICRO(NAME, T, T, T, #NAME " %1, %2, %3 offset:32")
#define TWO_DATA_RTN(NAME, T) MICRO(NAME, T, T, T, #NAME " %0, %1, %2, %3 offset:32")
#define EXCHANGE2(NAME, T, T2) MICRO(NAME, T2, T, T, #NAME " %0, %1, %2, %3 offset0:1 offset1:6")

#if defined(__GFX9__)
#include "instructions_gfx9.h"
#else
#include "instructions_gfx11.h"
#endif

// What all architectures have under one name.
#define BOTH(STEM, TYPE, T)        \
  ATOMIC(ds_##STEM##_##TYPE, T)    \
  ATOMIC_RTN(ds_##STEM##_rtn_##TYPE, T)
#define BOTH_WIDTHS(STEM, LETTER)  \
  BOTH(STEM, LETTER##32, w1)       \
  BOTH(STEM, LETTER##64, w2)
BOTH_WIDTHS(add, u)
BOTH_WIDTHS(sub, u)
BOTH_WIDTHS(rsub, u)
BOTH_WIDTHS(inc, u)
BOTH_WIDTHS(dec, u)
BOTH_WIDTHS(min, i)
BOTH_WIDTHS(max, i)
BOTH_WIDTHS(min, u)
BOTH_WIDTHS(max, u)
BOTH_WIDTHS(and, b)
BOTH_WIDTHS(or, b)
BOTH_WIDTHS(xor, b)
BOTH(add, f32, w1)
TWO_DATA(ds_mskor_b32, w1)
TWO_DATA_RTN(ds_mskor_rtn_b32, w1)
TWO_DATA(ds_mskor_b64, w2)
TWO_DATA_RTN(ds_mskor_rtn_b64, w2)
ATOMIC_RTN(ds_condxchg32_rtn_b64, w2)
#if !defined(__GFX12__)
BOTH_WIDTHS(min, f)
BOTH_WIDTHS(max, f)
TWO_DATA_RTN(ds_wrap_rtn_b32, w1)
#endif
#if defined(__gfx942__) || defined(__gfx950__) || defined(__GFX12__)
BOTH(pk_add, f16, w1)
BOTH(pk_add, bf16, w1)
#endif
