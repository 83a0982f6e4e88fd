// Memory of a device by c10's name of its allocator; nothing is cached.
#pragma once
#include <c10/core/Allocator.h>
#include <c10/hip/HIPStream.h>

namespace c10::cuda::CUDACachingAllocator {
inline Allocator* get() { return c10::GetAllocator(DeviceType::CUDA); }
inline void* raw_alloc(size_t size) { return get()->raw_allocate(size); }
inline void* raw_alloc_with_stream(size_t size, hipStream_t) { return raw_alloc(size); }
inline void raw_delete(void* memory) { get()->raw_deallocate(memory); }
inline void emptyCache() {}
inline void recordStream(const DataPtr&, CUDAStream) {}
}  // namespace c10::cuda::CUDACachingAllocator
namespace c10::hip::HIPCachingAllocator {
using namespace c10::cuda::CUDACachingAllocator;
}
