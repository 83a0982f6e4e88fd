// Both versions of an entry: its function `entry<false>` has the reported fault, `entry<true>` the fix.
//
// The line where the fault is to be found ends with the comment "here".
#pragma once
#include <hip/hip_runtime.h>

#define BOTH(PARAMETERS, ...)                                              \
  extern "C" __global__ void before PARAMETERS { entry<false>(__VA_ARGS__); } \
  extern "C" __global__ void after PARAMETERS { entry<true>(__VA_ARGS__); }

// Launches of exactly this many work-items: what a barrier is for depends on it.
#define BOTH_OF(SIZE, PARAMETERS, ...)                                                                           \
  extern "C" __global__ void __launch_bounds__(SIZE) before PARAMETERS { entry<false>(__VA_ARGS__); } \
  extern "C" __global__ void __launch_bounds__(SIZE) after PARAMETERS { entry<true>(__VA_ARGS__); }

typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef int i32x16 __attribute__((ext_vector_type(16)));
