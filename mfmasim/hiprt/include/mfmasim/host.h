// The C++ side of HIP's host interface: typed allocations, symbols, launches and occupancy. Names and signatures: HIP
// runtime API reference.
#pragma once

// A typed pointer in place of void **: parameters after it, and their names in the call.
#define MFMASIM_LIST(...) __VA_ARGS__
#define MFMASIM_TYPED(name, parameters, arguments)              \
  template <typename T_>                                        \
  inline hipError_t name(T_ **pointer, MFMASIM_LIST parameters) { \
    return name((void **)pointer, MFMASIM_LIST arguments);      \
  }
MFMASIM_TYPED(hipMalloc, (size_t size), (size))
MFMASIM_TYPED(hipMallocHost, (size_t size), (size))
MFMASIM_TYPED(hipMallocManaged, (size_t size, unsigned int flags = 1), (size, flags))
MFMASIM_TYPED(hipHostMalloc, (size_t size, unsigned int flags = 0), (size, flags))
MFMASIM_TYPED(hipHostAlloc, (size_t size, unsigned int flags = 0), (size, flags))
MFMASIM_TYPED(hipMallocAsync, (size_t size, hipStream_t stream), (size, stream))
MFMASIM_TYPED(hipMallocFromPoolAsync, (size_t size, hipMemPool_t pool, hipStream_t stream), (size, pool, stream))
MFMASIM_TYPED(hipMallocPitch, (size_t *pitch, size_t width, size_t height), (pitch, width, height))
MFMASIM_TYPED(hipHostGetDevicePointer, (void *host, unsigned int flags), (host, flags))
#undef MFMASIM_TYPED
#undef MFMASIM_LIST

// A symbol is the host variable that stands for a device variable.
#define HIP_SYMBOL(name) name
template <typename T_>
inline hipError_t hipGetSymbolAddress(void **pointer, const T_ &symbol) {
  return hipGetSymbolAddress(pointer, (const void *)&symbol);
}
template <typename T_>
inline hipError_t hipGetSymbolSize(size_t *size, const T_ &symbol) {
  return hipGetSymbolSize(size, (const void *)&symbol);
}
template <typename T_>
inline hipError_t hipMemcpyToSymbol(const T_ &symbol, const void *source, size_t size, size_t offset = 0,
                                    hipMemcpyKind kind = hipMemcpyHostToDevice) {
  return hipMemcpyToSymbol((const void *)&symbol, source, size, offset, kind);
}
template <typename T_>
inline hipError_t hipMemcpyFromSymbol(void *target, const T_ &symbol, size_t size, size_t offset = 0,
                                      hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  return hipMemcpyFromSymbol(target, (const void *)&symbol, size, offset, kind);
}
template <typename T_>
inline hipError_t hipMemcpyToSymbolAsync(const T_ &symbol, const void *source, size_t size, size_t offset,
                                         hipMemcpyKind kind, hipStream_t stream = 0) {
  return hipMemcpyToSymbolAsync((const void *)&symbol, source, size, offset, kind, stream);
}
template <typename T_>
inline hipError_t hipMemcpyFromSymbolAsync(void *target, const T_ &symbol, size_t size, size_t offset,
                                           hipMemcpyKind kind, hipStream_t stream = 0) {
  return hipMemcpyFromSymbolAsync(target, (const void *)&symbol, size, offset, kind, stream);
}

// A kernel, by its host function.
template <typename T_>
inline hipError_t hipFuncSetAttribute(T_ *function, hipFuncAttribute attribute, int value) {
  return hipFuncSetAttribute((const void *)function, attribute, value);
}
template <typename T_>
inline hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, T_ *function) {
  return hipFuncGetAttributes(attributes, (const void *)function);
}
template <typename T_>
inline hipError_t hipGetFuncBySymbol(hipFunction_t *function, T_ *symbol) {
  return hipGetFuncBySymbol(function, (const void *)symbol);
}
template <typename T_>
inline hipError_t hipLaunchKernel(T_ *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
                                  hipStream_t stream = 0) {
  return hipLaunchKernel((const void *)function, grid, block, arguments, shared_bytes, stream);
}
template <typename T_>
inline hipError_t hipLaunchCooperativeKernel(T_ function, dim3 grid, dim3 block, void **arguments,
                                             unsigned int shared_bytes, hipStream_t stream) {
  return hipLaunchCooperativeKernel((const void *)function, grid, block, arguments, shared_bytes, stream);
}
template <typename... Parameters_, typename... Arguments_>
inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t *config, void (*kernel)(Parameters_...),
                                    Arguments_ &&...arguments) {
  // The parameters' types decide the bytes, as in a call.
  return [&](Parameters_... values) {
    void *places[] = {(void *)&values..., nullptr};
    return hipLaunchKernelExC(config, (const void *)kernel, places);
  }(static_cast<Parameters_>(arguments)...);
}
template <typename T_>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T_ function, int block_size,
                                                               size_t shared_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)function, block_size, shared_bytes);
}
template <typename T_>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T_ function, int block_size,
                                                                        size_t shared_bytes, unsigned int flags) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)function, block_size, shared_bytes,
                                                               flags);
}
template <typename T_>
inline hipError_t hipOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, T_ function,
                                                    size_t shared_bytes = 0, int block_limit = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid_size, block_size, (const void *)function, shared_bytes, block_limit);
}
template <typename T_>
inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int *grid_size, int *block_size, T_ function,
                                                             size_t shared_bytes = 0, int block_limit = 0,
                                                             unsigned int = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid_size, block_size, (const void *)function, shared_bytes, block_limit);
}
// The amount of LDS may depend on the block: the largest block that is resident with its amount.
template <typename F_, typename T_>
inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, T_ function,
                                                                F_ shared_bytes_of, int block_limit = 0) {
  int best = 0;
  hipError_t error = hipOccupancyMaxPotentialBlockSize(grid_size, &best, (const void *)function, 0, block_limit);
  for (int blocks = 0; error == hipSuccess && best > 0; best = best > 64 ? best - 64 : best / 2) {
    error = hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)function, best, shared_bytes_of(best));
    if (blocks > 0) break;
  }
  *block_size = best;
  return error;
}

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#if defined(__HIP__)
#if defined(HIP_TEMPLATE_KERNEL_LAUNCH)
template <typename... Arguments_, typename Kernel_>
inline void hipLaunchKernelGGL(Kernel_ kernel, const dim3 &grid, const dim3 &block, uint32_t shared_bytes,
                               hipStream_t stream, Arguments_... arguments) {
  kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
}
#else
#define MFMASIM_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)              \
  do {                                                                              \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__);             \
  } while (0)
#define hipLaunchKernelGGL(kernel, ...) MFMASIM_LAUNCH((kernel), __VA_ARGS__)
#endif
#endif
