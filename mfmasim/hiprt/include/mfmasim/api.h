// HIP's host interface for C and C++: numbers, structures and functions (mfmasim/api/, made from the public interface),
// and what those tables do not have: dim3, versions, keys, the names of structures' layouts.
#pragma once

#include <stddef.h>
#include <stdint.h>
#if !defined(__cplusplus)
#include <stdbool.h>
#endif

#include <hip/hip_version.h>
#if !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif

#if defined(__HIP__)
#include <mfmasim/coordinates.h>
#elif defined(__cplusplus)
struct dim3 {
  uint32_t x, y, z;
  constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
};
#else
typedef struct dim3 { uint32_t x, y, z; } dim3;
#endif

// Some structures and functions have a layout of a version of HIP in their names.
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipDeviceProp_t hipDeviceProp_tR0600
#define hipChooseDevice hipChooseDeviceR0600

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)
#define hipHostAllocDefault 0x0
#define hipHostAllocPortable 0x1
#define hipHostAllocMapped 0x2
#define hipHostAllocWriteCombined 0x4
#define hipHostRegisterReadOnly 0x8
#define hipStreamPerThread ((hipStream_t)2)
#define hipStreamLegacy ((hipStream_t)1)

#if defined(__cplusplus)
#define MFMASIM_DEFAULT(value) = value
extern "C" {
#else
#define MFMASIM_DEFAULT(value)
#endif
#include <mfmasim/api/numbers.h>
#include <mfmasim/api/structures.h>
#include <mfmasim/api/functions.h>
hipError_t hipExtLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t, hipEvent_t, hipEvent_t, int);
hipError_t hipExtGetLastError(void);
static inline hipExtent make_hipExtent(size_t width, size_t height, size_t depth) {
  hipExtent made = {width, height, depth};
  return made;
}
static inline hipPos make_hipPos(size_t x, size_t y, size_t z) {
  hipPos made = {x, y, z};
  return made;
}
static inline hipPitchedPtr make_hipPitchedPtr(void *pointer, size_t pitch, size_t width, size_t height) {
  hipPitchedPtr made = {pointer, pitch, width, height};
  return made;
}
// These headers exist in no compiled form: a null pointer and size 0.
void __hipGetPCH(const char **, unsigned int *);
// What clang makes of <<< >>>.
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t MFMASIM_DEFAULT(0), hipStream_t MFMASIM_DEFAULT(0));
hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *);
#if defined(__cplusplus)
}
#include <mfmasim/host.h>
#endif
#undef MFMASIM_DEFAULT
