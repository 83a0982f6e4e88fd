// AMD's extensions: launches with events around them, and sizes in work-items.
#pragma once
#include <hip/hip_runtime.h>

// The grid is counted in work-items.
extern "C" hipError_t hipExtModuleLaunchKernel(hipFunction_t, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                                               uint32_t block_x, uint32_t block_y, uint32_t block_z,
                                               size_t shared_bytes, hipStream_t stream, void **parameters,
                                               void **extra, hipEvent_t start = nullptr, hipEvent_t stop = nullptr,
                                               uint32_t flags = 0);
inline hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t items_x, uint32_t items_y,
                                           uint32_t items_z, uint32_t block_x, uint32_t block_y, uint32_t block_z,
                                           size_t shared_bytes, hipStream_t stream, void **parameters, void **extra,
                                           hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  return hipExtModuleLaunchKernel(function, items_x, items_y, items_z, block_x, block_y, block_z, shared_bytes, stream,
                                  parameters, extra, start, stop, 0);
}

#if defined(__HIP__)
template <typename... Parameters_, typename... Arguments_>
inline void hipExtLaunchKernelGGL(void (*kernel)(Parameters_...), const dim3 &grid, const dim3 &block,
                                  uint32_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                                  uint32_t flags, Arguments_... arguments) {
  // The parameters' types decide the bytes, as in a call.
  [&](Parameters_... values) {
    void *places[] = {(void *)&values..., nullptr};
    (void)hipExtLaunchKernel((const void *)kernel, grid, block, places, shared_bytes, stream, start, stop, (int)flags);
  }(static_cast<Parameters_>(arguments)...);
}
#endif
