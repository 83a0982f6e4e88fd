// Names of PyTorch that launchers of kernels use, declared and not defined: enough to parse them where device code is
// compiled alone, from a text that is a PyTorch extension otherwise. Programs that run get PyTorch's own headers.
#pragma once
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace c10 {
template <class T>
struct ArrayRef {
  template <class... Any>
  ArrayRef(const Any&...);
  ArrayRef(std::initializer_list<T>);
  T operator[](int64_t) const;
  int64_t size() const;
  const T *data() const, *begin() const, *end() const;
  std::vector<T> vec() const;
};
using IntArrayRef = ArrayRef<int64_t>;
struct Half {
  uint16_t x;
  __host__ __device__ Half() = default;
  __host__ __device__ Half(float value) : x(__half_as_ushort(__float2half(value))) {}
  __host__ __device__ operator float() const { return __half2float(__ushort_as_half(x)); }
};
struct BFloat16 {
  uint16_t x;
  __host__ __device__ BFloat16() = default;
  __host__ __device__ BFloat16(float value) : x(__builtin_bit_cast(uint16_t, __float2bfloat16(value))) {}
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16); }
};
enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16, Float8_e4m3fnuz,
                                 Float8_e4m3fn, Float8_e5m2, Float8_e5m2fnuz, Float4_e2m1fn_x2, Float8_e8m0fnu };
enum class DeviceType : int8_t { CPU, CUDA };
struct Device {
  template <class... Any>
  Device(const Any&...);
  bool is_cuda() const, is_cpu() const;
  DeviceType type() const;
  int8_t index() const;
};
struct TensorOptions {
  template <class... Any>
  TensorOptions(const Any&...);
  template <class Any>
  TensorOptions device(Any, int = 0) const;
  template <class Any>
  TensorOptions dtype(Any) const;
  TensorOptions requires_grad(bool) const;
};
struct Scalar {
  template <class Any>
  Scalar(Any);
  template <class T>
  T to() const;
};
template <class T>
using optional = std::optional<T>;
}  // namespace c10

namespace at {
using namespace c10;
struct Tensor {
  Tensor();
  int64_t size(int64_t) const, stride(int64_t) const, numel() const, dim() const, element_size() const, nbytes() const;
  int64_t storage_offset() const, ndimension() const, itemsize() const;
  IntArrayRef sizes() const, strides() const;
  template <class T = void>
  T* data_ptr() const;
  template <class T = void>
  T* mutable_data_ptr() const;
  template <class T = void>
  const T* const_data_ptr() const;
  template <class T>
  T item() const;
  bool is_contiguous() const, is_cuda() const, defined() const, is_cpu() const;
  ScalarType scalar_type() const, dtype() const;
  Device device() const;
  int8_t get_device() const;
  TensorOptions options() const;
  Tensor contiguous() const, cpu() const, cuda() const, clone() const, t() const, flatten() const, detach() const;
  Tensor operator[](int64_t) const;
  template <class... Any>
  Tensor to(const Any&...) const;
  template <class... Any>
  Tensor view(const Any&...) const;
  Tensor view(std::initializer_list<int64_t>) const, reshape(std::initializer_list<int64_t>) const;
  Tensor expand(std::initializer_list<int64_t>) const, permute(std::initializer_list<int64_t>) const;
  template <class... Any>
  Tensor transpose(const Any&...) const;
  template <class... Any>
  Tensor slice(const Any&...) const;
  template <class... Any>
  Tensor select(const Any&...) const;
  template <class... Any>
  Tensor sum(const Any&...) const;
  template <class Any>
  Tensor unsqueeze(Any) const;
  template <class Any>
  Tensor squeeze(Any) const;
  Tensor zero_() const;
  template <class... Any>
  Tensor copy_(const Any&...) const;
  template <class Any>
  Tensor fill_(Any) const;
};
using OptionalTensorRef = Tensor;
inline constexpr ScalarType kByte{}, kChar{}, kShort{}, kInt{}, kLong{}, kHalf{}, kFloat{}, kDouble{}, kBool{}, kBFloat16{},
    kInt8{}, kUInt8{}, kInt16{}, kInt32{}, kInt64{}, kFloat16{}, kFloat32{}, kFloat64{}, kFloat8_e4m3fnuz{},
    kFloat8_e4m3fn{}, kFloat8_e5m2{}, kFloat8_e5m2fnuz{};
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
#define MFMASIM_MAKER(name)                                         \
  template <class... Any>                                           \
  Tensor name(std::initializer_list<int64_t>, const Any&...);       \
  template <class... Any>                                           \
  Tensor name(const Any&...);
MFMASIM_MAKER(empty)
MFMASIM_MAKER(zeros)
MFMASIM_MAKER(ones)
MFMASIM_MAKER(full)
MFMASIM_MAKER(empty_strided)
MFMASIM_MAKER(empty_like)
MFMASIM_MAKER(zeros_like)
MFMASIM_MAKER(ones_like)
MFMASIM_MAKER(from_blob)
MFMASIM_MAKER(arange)
MFMASIM_MAKER(matmul)
MFMASIM_MAKER(mm)
MFMASIM_MAKER(bmm)
MFMASIM_MAKER(cat)
#undef MFMASIM_MAKER
template <class Any>
std::optional<Device> device_of(const Any&);
}  // namespace at

namespace c10::cuda {
struct CUDAStream {
  operator hipStream_t() const;
  hipStream_t stream() const;
  void synchronize() const;
};
CUDAStream getCurrentCUDAStream(int = -1), getDefaultCUDAStream(int = -1);
template <class... Any>
CUDAStream getStreamFromPool(const Any&...);
struct CUDAGuard {
  template <class Any>
  explicit CUDAGuard(const Any&);
};
struct OptionalCUDAGuard {
  template <class... Any>
  explicit OptionalCUDAGuard(const Any&...);
};
}  // namespace c10::cuda
namespace c10::hip {
using namespace c10::cuda;
using HIPStream = CUDAStream;
using HIPGuard = CUDAGuard;
using OptionalHIPGuard = OptionalCUDAGuard;
using HIPGuardMasqueradingAsCUDA = CUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalCUDAGuard;
CUDAStream getCurrentHIPStream(int = -1), getCurrentHIPStreamMasqueradingAsCUDA(int = -1);
}  // namespace c10::hip
namespace at::cuda {
using namespace c10::cuda;
hipDeviceProp_t *getCurrentDeviceProperties(), *getDeviceProperties(int);
int warp_size();
}  // namespace at::cuda
namespace at::hip {
using namespace c10::hip;
using namespace at::cuda;
}  // namespace at::hip

namespace torch {
using namespace at;
template <class... Any>
int dtype(const Any&...);
template <class... Any>
TensorOptions device(const Any&...);
struct Library {
  template <class... Any>
  Library& def(const Any&...);
  template <class... Any>
  Library& impl(const Any&...);
};
template <class Any>
Any wrap_pybind_function(Any);
}  // namespace torch
namespace pybind11 {
struct arg {
  explicit arg(const char*);
  template <class Any>
  arg operator=(const Any&) const;
};
namespace literals {
arg operator""_a(const char*, size_t);
}
struct module_ {
  template <class... Any>
  module_& def(const Any&...);
  template <class Any>
  void attr(Any);
  const char*& doc();
};
}  // namespace pybind11
namespace py = pybind11;

#define MFMASIM_JOIN_(a, b) a##b
#define MFMASIM_JOIN(a, b) MFMASIM_JOIN_(a, b)
#define PYBIND11_MODULE(name, variable) \
  static void MFMASIM_JOIN(mfmasim_module_, __COUNTER__)([[maybe_unused]] pybind11::module_ & variable)
#define TORCH_LIBRARY(name, variable) \
  static void MFMASIM_JOIN(mfmasim_library_, __COUNTER__)([[maybe_unused]] torch::Library & variable)
#define TORCH_LIBRARY_FRAGMENT(name, variable) TORCH_LIBRARY(name, variable)
#define TORCH_LIBRARY_IMPL(name, key, variable) TORCH_LIBRARY(name, variable)
#define TORCH_EXTENSION_NAME mfmasim_extension
#define TORCH_CHECK(condition, ...) ((void)(condition))
#define TORCH_INTERNAL_ASSERT(condition, ...) ((void)(condition))
#define TORCH_WARN(...) ((void)0)
#define AT_ASSERTM(condition, ...) ((void)(condition))
#define AT_ERROR(...) ((void)0)
#define C10_CUDA_CHECK(call) ((void)(call))
#define C10_HIP_CHECK(call) ((void)(call))
#define AT_CUDA_CHECK(call) ((void)(call))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_HIP_KERNEL_LAUNCH_CHECK() ((void)0)
#define MFMASIM_CASE(type, ...) \
  {                             \
    using scalar_t = type;      \
    (void)(__VA_ARGS__)();      \
  }
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) MFMASIM_CASE(float, __VA_ARGS__) MFMASIM_CASE(double, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__) MFMASIM_CASE(c10::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(one, two, type, name, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, __VA_ARGS__) MFMASIM_CASE(c10::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...) \
  MFMASIM_CASE(c10::Half, __VA_ARGS__) MFMASIM_CASE(c10::BFloat16, __VA_ARGS__)
