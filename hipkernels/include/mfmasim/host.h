// The runtime's host side, declared so that a file with host code parses. Nothing here is ever linked or called:
// only device code is emitted. Names and signatures: HIP runtime API reference.
#pragma once

#include <mfmasim/coordinates.h>
#include <mfmasim/qualifiers.h>
#include <stddef.h>
#include <stdint.h>

#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 0
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 70000000
#define __HIP_PLATFORM_AMD__ 1

typedef enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorInvalidConfiguration = 9,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorFileNotFound = 301,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchFailure = 719,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999,
} hipError_t;

typedef enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
} hipMemcpyKind;

typedef enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8,
  hipFuncAttributePreferredSharedMemoryCarveout = 9,
} hipFuncAttribute;

typedef enum hipDeviceAttribute_t {
  hipDeviceAttributeMaxThreadsPerBlock,
  hipDeviceAttributeMaxSharedMemoryPerBlock,
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeClockRate,
} hipDeviceAttribute_t;

typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef int hipDevice_t;
typedef void *hipDeviceptr_t;

typedef struct hipDeviceProp_t {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  int memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major, minor;
  int multiProcessorCount;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int computeMode;
  char gcnArchName[256];
} hipDeviceProp_t;

typedef enum hipMemoryType {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
  hipMemoryTypeManaged = 3,
} hipMemoryType;

typedef struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void *devicePointer;
  void *hostPointer;
  int isManaged;
  unsigned int allocationFlags;
} hipPointerAttribute_t;

#define hipHostRegisterDefault 0x0
#define hipHostMallocDefault 0x0
#define hipHostMallocMapped 0x2
#define hipStreamDefault 0x0
#define hipStreamNonBlocking 0x1
#define hipEventDefault 0x0
#define hipEventDisableTiming 0x2

extern "C" {
hipError_t hipInit(unsigned int flags);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceReset(void);
hipError_t hipDeviceSynchronize(void);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device);
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);
hipError_t hipRuntimeGetVersion(int *version);
hipError_t hipDriverGetVersion(int *version);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
const char *hipGetErrorString(hipError_t error);
const char *hipGetErrorName(hipError_t error);
hipError_t hipMalloc(void **pointer, size_t size);
hipError_t hipMallocManaged(void **pointer, size_t size, unsigned int flags = 1);
hipError_t hipHostMalloc(void **pointer, size_t size, unsigned int flags = hipHostMallocDefault);
hipError_t hipMallocAsync(void **pointer, size_t size, hipStream_t stream);
hipError_t hipFree(void *pointer);
hipError_t hipHostFree(void *pointer);
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipMemGetInfo(size_t *free, size_t *total);
hipError_t hipMemcpy(void *target, const void *source, size_t size, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *target, const void *source, size_t size, hipMemcpyKind kind, hipStream_t stream = 0);
hipError_t hipMemcpyToSymbol(const void *symbol, const void *source, size_t size, size_t offset = 0,
                             hipMemcpyKind kind = hipMemcpyHostToDevice);
hipError_t hipMemcpyFromSymbol(void *target, const void *symbol, size_t size, size_t offset = 0,
                               hipMemcpyKind kind = hipMemcpyDeviceToHost);
hipError_t hipGetSymbolAddress(void **pointer, const void *symbol);
hipError_t hipMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                       size_t height, hipMemcpyKind kind);
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
hipError_t hipHostRegister(void *pointer, size_t size, unsigned int flags);
hipError_t hipHostUnregister(void *pointer);
hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned int flags);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer);
hipError_t hipMemset(void *target, int value, size_t size);
hipError_t hipMemsetAsync(void *target, int value, size_t size, hipStream_t stream = 0);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags = 0);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = 0);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipModuleLoad(hipModule_t *module, const char *file);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                 unsigned int shared_bytes, hipStream_t stream, void **arguments, void **extra);
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                           hipStream_t stream);
hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute attribute, int value);
// What clang makes of <<< >>>.
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = 0);
}

template <typename T_>
inline hipError_t hipMalloc(T_ **pointer, size_t size) {
  return hipMalloc((void **)pointer, size);
}
template <typename T_>
inline hipError_t hipMallocManaged(T_ **pointer, size_t size, unsigned int flags = 1) {
  return hipMallocManaged((void **)pointer, size, flags);
}
template <typename T_>
inline hipError_t hipHostMalloc(T_ **pointer, size_t size, unsigned int flags = hipHostMallocDefault) {
  return hipHostMalloc((void **)pointer, size, flags);
}
template <typename T_>
inline hipError_t hipMallocAsync(T_ **pointer, size_t size, hipStream_t stream) {
  return hipMallocAsync((void **)pointer, size, stream);
}
template <typename T_>
inline hipError_t hipFuncSetAttribute(T_ *function, hipFuncAttribute attribute, int value) {
  return hipFuncSetAttribute((const void *)function, attribute, value);
}
template <typename T_>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T_ function, int block_size, size_t shared_bytes);
template <typename T_>
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, T_ function, size_t shared_bytes = 0,
                                             int block_limit = 0);

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(name) &name
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
