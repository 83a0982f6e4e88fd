// c10::cuda's functions of devices, streams and guards for the simulated devices, whose only stream is the null stream.
#pragma once
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <utility>

#define C10_HIP_CHECK(call)                                                              \
  do {                                                                                   \
    const hipError_t mfmasim_error = (call);                                             \
    TORCH_CHECK(mfmasim_error == hipSuccess, "HIP error: ", hipGetErrorString(mfmasim_error)); \
  } while (0)
#define C10_HIP_CHECK_WARN(call)                                                                  \
  do {                                                                                            \
    const hipError_t mfmasim_error = (call);                                                      \
    if (mfmasim_error != hipSuccess) TORCH_WARN("HIP warning: ", hipGetErrorString(mfmasim_error)); \
  } while (0)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_HIP_CHECK(hipGetLastError())
#define C10_CUDA_CHECK(call) C10_HIP_CHECK(call)
#define C10_CUDA_CHECK_WARN(call) C10_HIP_CHECK_WARN(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_HIP_KERNEL_LAUNCH_CHECK()

namespace c10::cuda {

inline DeviceIndex device_count() noexcept {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? static_cast<DeviceIndex>(count) : 0;
}
inline DeviceIndex current_device() {
  int device = 0;
  C10_HIP_CHECK(hipGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}
inline void set_device(DeviceIndex device) { C10_HIP_CHECK(hipSetDevice(device)); }
inline void device_synchronize() { C10_HIP_CHECK(hipDeviceSynchronize()); }

class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  explicit CUDAStream(Stream stream) : stream_(stream) {}
  CUDAStream(Unchecked, Stream stream) : stream_(stream) {}
  operator hipStream_t() const { return stream(); }
  operator Stream() const { return stream_; }
  hipStream_t stream() const { return nullptr; }
  DeviceType device_type() const { return DeviceType::CUDA; }
  DeviceIndex device_index() const { return stream_.device_index(); }
  Device device() const { return {DeviceType::CUDA, device_index()}; }
  StreamId id() const { return stream_.id(); }
  Stream unwrap() const { return stream_; }
  bool query() const { return hipStreamQuery(nullptr) == hipSuccess; }
  void synchronize() const { C10_HIP_CHECK(hipStreamSynchronize(nullptr)); }
  int priority() const { return 0; }
  bool operator==(const CUDAStream& other) const { return stream_ == other.stream_; }
  bool operator!=(const CUDAStream& other) const { return !(*this == other); }

 private:
  Stream stream_;
};

inline CUDAStream getDefaultCUDAStream(DeviceIndex device = -1) {
  return CUDAStream(Stream(Stream::DEFAULT, Device(DeviceType::CUDA, device < 0 ? current_device() : device)));
}
inline CUDAStream getCurrentCUDAStream(DeviceIndex device = -1) { return getDefaultCUDAStream(device); }
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex device = -1) { return getDefaultCUDAStream(device); }
inline CUDAStream getStreamFromPool(int, DeviceIndex device) { return getDefaultCUDAStream(device); }
inline CUDAStream getStreamFromExternal(hipStream_t, DeviceIndex device) { return getDefaultCUDAStream(device); }
inline void setCurrentCUDAStream(CUDAStream) {}

struct CUDAGuard : c10::DeviceGuard {
  explicit CUDAGuard(DeviceIndex device) : c10::DeviceGuard(Device(DeviceType::CUDA, device)) {}
  explicit CUDAGuard(Device device) : c10::DeviceGuard(device) {}
  void set_device(Device device) { this->reset_device(device); }
};
struct OptionalCUDAGuard : c10::OptionalDeviceGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) : c10::OptionalDeviceGuard(device) {}
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> device) {
    if (device) set_index(*device);
  }
  void set_device(Device device) { this->reset_device(device); }
  void set_index(DeviceIndex device) { this->reset_device(Device(DeviceType::CUDA, device)); }
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(Stream) {}
};
using OptionalCUDAStreamGuard = CUDAStreamGuard;
using CUDAMultiStreamGuard = CUDAStreamGuard;

}  // namespace c10::cuda

namespace c10::hip {
using namespace c10::cuda;
using HIPStream = CUDAStream;
using HIPGuard = CUDAGuard;
using OptionalHIPGuard = OptionalCUDAGuard;
using HIPStreamGuard = CUDAStreamGuard;
using HIPStreamMasqueradingAsCUDA = CUDAStream;
using HIPGuardMasqueradingAsCUDA = CUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalCUDAGuard;
using HIPStreamGuardMasqueradingAsCUDA = CUDAStreamGuard;
inline CUDAStream getCurrentHIPStream(DeviceIndex device = -1) { return getCurrentCUDAStream(device); }
inline CUDAStream getDefaultHIPStream(DeviceIndex device = -1) { return getDefaultCUDAStream(device); }
inline CUDAStream getCurrentHIPStreamMasqueradingAsCUDA(DeviceIndex device = -1) { return getCurrentCUDAStream(device); }
inline CUDAStream getDefaultHIPStreamMasqueradingAsCUDA(DeviceIndex device = -1) { return getDefaultCUDAStream(device); }
inline CUDAStream getStreamFromPoolMasqueradingAsCUDA(bool = false, DeviceIndex device = -1) {
  return getDefaultCUDAStream(device);
}
}  // namespace c10::hip

namespace at::cuda {
using c10::cuda::CUDAStream;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromPool;
using c10::cuda::CUDAGuard;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::setCurrentCUDAStream;
}  // namespace at::cuda
namespace at::hip {
using namespace c10::hip;
}
