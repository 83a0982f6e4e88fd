// at::cuda::CUDAEvent for the simulated devices.
#pragma once
#include <c10/hip/HIPStream.h>

namespace at::cuda {

class CUDAEvent {
 public:
  explicit CUDAEvent(unsigned flags = hipEventDisableTiming) { C10_HIP_CHECK(hipEventCreateWithFlags(&event_, flags)); }
  ~CUDAEvent() {
    if (event_) (void)hipEventDestroy(event_);
  }
  CUDAEvent(const CUDAEvent&) = delete;
  CUDAEvent& operator=(const CUDAEvent&) = delete;
  CUDAEvent(CUDAEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  operator hipEvent_t() const { return event_; }
  hipEvent_t event() const { return event_; }
  void record() { record(c10::cuda::getCurrentCUDAStream()); }
  void record(const c10::cuda::CUDAStream& stream) { C10_HIP_CHECK(hipEventRecord(event_, stream)); }
  void recordOnce(const c10::cuda::CUDAStream& stream) { record(stream); }
  void block(const c10::cuda::CUDAStream& stream) { C10_HIP_CHECK(hipStreamWaitEvent(stream, event_, 0)); }
  bool query() const { return hipEventQuery(event_) == hipSuccess; }
  void synchronize() const { C10_HIP_CHECK(hipEventSynchronize(event_)); }
  float elapsed_time(const CUDAEvent& end) const {
    float milliseconds = 0;
    C10_HIP_CHECK(hipEventElapsedTime(&milliseconds, event_, end.event_));
    return milliseconds;
  }

 private:
  hipEvent_t event_ = nullptr;
};

}  // namespace at::cuda
