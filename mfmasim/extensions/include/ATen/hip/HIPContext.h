// at::cuda's functions of devices for the simulated ones.
#pragma once
#include <c10/hip/HIPCachingAllocator.h>
#include <c10/hip/HIPStream.h>

#define AT_HIP_CHECK(call) C10_HIP_CHECK(call)
#define AT_CUDA_CHECK(call) C10_HIP_CHECK(call)

namespace at::cuda {

inline int64_t getNumGPUs() { return c10::cuda::device_count(); }
inline bool is_available() { return getNumGPUs() > 0; }
inline hipDeviceProp_t* getDeviceProperties(c10::DeviceIndex device) {
  static hipDeviceProp_t known[64];
  static bool asked[64];
  TORCH_CHECK(device >= 0 && device < c10::cuda::device_count() && device < 64, "no device ", static_cast<int>(device));
  if (!asked[device]) C10_HIP_CHECK(hipGetDeviceProperties(&known[device], device));
  asked[device] = true;
  return &known[device];
}
inline hipDeviceProp_t* getCurrentDeviceProperties() { return getDeviceProperties(c10::cuda::current_device()); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
inline c10::Allocator* getCUDADeviceAllocator() { return c10::GetAllocator(c10::DeviceType::CUDA); }

}  // namespace at::cuda
namespace at::hip {
using namespace at::cuda;
}
