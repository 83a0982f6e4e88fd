// AMD's extensions: launches with events around them.
#pragma once
#include <hip/hip_runtime.h>

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
