// Tensors of device "cuda" for a CPU build of PyTorch: their bytes are memory of the simulated devices, and what PyTorch
// computes with them runs on the CPU, on the same bytes. An allocator, a guard, hooks, and one kernel for all operations.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstring>
#include <utility>
#include <vector>

extern "C" {
int hipMalloc(void**, size_t);
int hipFree(void*);
int hipMemcpy(void*, const void*, size_t, int);
int hipMemset(void*, int, size_t);
int hipGetDevice(int*);
int hipSetDevice(int);
int hipGetDeviceCount(int*);
int hipDeviceSynchronize();
const char* hipGetErrorString(int);
}

namespace {

using at::Tensor;
using c10::DeviceIndex;
using c10::IValue;
constexpr auto CUDA = c10::DeviceType::CUDA;
constexpr int TO_DEVICE = 1;  // hipMemcpyHostToDevice

void check(int code) {
  TORCH_CHECK(code == 0, "HIP error: ", hipGetErrorString(code));
}

DeviceIndex current() {
  int device = 0;
  check(hipGetDevice(&device));
  return static_cast<DeviceIndex>(device);
}

void (*written)(uint64_t address, uint64_t size) = nullptr;  // the simulator notes that bytes have been written

// --- memory

struct DeviceAllocator final : c10::Allocator {
  static void release(void* memory) { hipFree(memory); }
  c10::DataPtr allocate(size_t size) override {
    void* memory = nullptr;
    if (size) check(hipMalloc(&memory, size));
    return {memory, memory, &release, c10::Device(CUDA, current())};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t size) const override { check(hipMemcpy(to, from, size, 4)); }
};
DeviceAllocator allocator;
REGISTER_ALLOCATOR(CUDA, &allocator);

// --- devices; their only stream has done its work when a call returns

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    auto before = getDevice();
    if (device.index() >= 0 && device != before) setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {CUDA, current()}; }
  void setDevice(c10::Device device) const override {
    if (device.index() >= 0) check(hipSetDevice(device.index()));
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0) hipSetDevice(device.index());
  }
  c10::Stream stream(c10::Device device) const {
    return c10::Stream(c10::Stream::DEFAULT, device.index() >= 0 ? device : getDevice());
  }
  c10::Stream getStream(c10::Device device) const override { return stream(device); }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return stream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return stream(device); }
  c10::Stream exchangeStream(c10::Stream chosen) const override { return stream(chosen.device()); }
  DeviceIndex deviceCount() const noexcept override {
    int count = 0;
    hipGetDeviceCount(&count);
    return static_cast<DeviceIndex>(count);
  }
  void record(void** event, const c10::Stream&, const DeviceIndex, const c10::EventFlag) const override {
    static char happened;
    *event = &happened;
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override { check(hipDeviceSynchronize()); }
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const DeviceIndex) const override { check(hipDeviceSynchronize()); }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
  double elapsedTime(void*, void*, const DeviceIndex) const override { return 0; }
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard);

// --- random numbers of a device are the CPU's

struct DeviceGenerator final : at::CPUGeneratorImpl {
  explicit DeviceGenerator(DeviceIndex index) : at::CPUGeneratorImpl() { device_ = c10::Device(CUDA, index); }
  void lend(bool to_cpu, DeviceIndex index) {
    device_ = to_cpu ? c10::Device(c10::DeviceType::CPU) : c10::Device(CUDA, index);
  }
};

}  // namespace

namespace at {

struct CUDAHooks final : CUDAHooksInterface {
  CUDAHooks() = default;
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return Guard().deviceCount(); }
  int getNumGPUs() const override { return Guard().deviceCount(); }
  DeviceIndex current_device() const override { return current(); }
  DeviceIndex getCurrentDevice() const override { return current(); }
  void setCurrentDevice(DeviceIndex device) const override { check(hipSetDevice(device)); }
  DeviceIndex exchangeDevice(DeviceIndex device) const override {
    return Guard().exchangeDevice({CUDA, device}).index();
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex device) const override { return exchangeDevice(device); }
  Device getDeviceFromPtr(void*) const override { return {CUDA, current()}; }
  Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  Allocator* getCUDADeviceAllocator() const override { return &allocator; }
  void deviceSynchronize(DeviceIndex) const override { check(hipDeviceSynchronize()); }
  Generator getNewGenerator(DeviceIndex index) const override {
    return at::make_generator<DeviceGenerator>(index < 0 ? current() : index);
  }
  const Generator& getDefaultGenerator(DeviceIndex index) const override {
    static const Generator made = getNewGenerator(index);
    return made;
  }
};
const CUDAHooks hooks;

}  // namespace at

namespace {

// --- operations

const c10::DispatchKeySet KEYS(c10::DispatchKey::CUDA);

Tensor made_of(c10::Storage storage, const Tensor& like, c10::DispatchKeySet keys) {
  auto made = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, like.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  return made;
}

bool is_ours(const Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == CUDA && tensor.layout() == c10::kStrided;
}

/// One after the other the runs of bytes that a tensor occupies.
template <class Visit>
void runs(const Tensor& tensor, Visit visit) {
  if (!tensor.numel()) return;
  auto* first = static_cast<char*>(tensor.storage().mutable_data());
  const int64_t item = tensor.itemsize();
  first += tensor.storage_offset() * item;
  if (tensor.is_non_overlapping_and_dense()) return visit(first, tensor.numel() * item);
  std::vector<std::pair<int64_t, int64_t>> outer;
  int64_t run = 1;
  for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    if (tensor.size(dim) == 1 || tensor.stride(dim) == 0) continue;
    if (outer.empty() && tensor.stride(dim) == run) run *= tensor.size(dim);
    else outer.emplace_back(tensor.size(dim), tensor.stride(dim) * item);
  }
  std::vector<int64_t> index(outer.size(), 0);
  for (;;) {
    visit(first, run * item);
    size_t dim = 0;
    for (; dim < outer.size(); ++dim) {
      first += outer[dim].second;
      if (++index[dim] < outer[dim].first) break;
      first -= outer[dim].second * outer[dim].first;
      index[dim] = 0;
    }
    if (dim == outer.size()) return;
  }
}

void note_written(const Tensor& tensor) {
  if (!written) return;
  runs(tensor, [](char* first, int64_t size) { written(reinterpret_cast<uint64_t>(first), size); });
}

/// Another size for a storage; what fits of its bytes stays.
void resize_storage(c10::StorageImpl* storage, size_t bytes) {
  auto fresh = allocator.allocate(bytes);
  const size_t kept = std::min(bytes, storage->nbytes());
  if (kept) check(hipMemcpy(fresh.get(), storage->data(), kept, 3));
  storage->set_data_ptr_noswap(std::move(fresh));
  storage->set_nbytes(bytes);
}

void take_shape(const Tensor& tensor, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  auto* impl = tensor.unsafeGetTensorImpl();
  const auto bytes = at::detail::computeStorageNbytes(sizes, strides, tensor.itemsize(), tensor.storage_offset());
  if (bytes > tensor.storage().nbytes()) resize_storage(tensor.storage().unsafeGetStorageImpl(), bytes);
  impl->set_sizes_and_strides(sizes, strides);
}

/// What one call of an operation sees: CPU tensors on the bytes of the device's.
class Lent {
 public:
  Tensor lend(const Tensor& tensor) {
    device_ = tensor.device();
    auto* own = tensor.storage().unsafeGetStorageImpl();
    auto found = std::find_if(storages_.begin(), storages_.end(), [&](auto& pair) { return pair.first == own; });
    if (found == storages_.end()) {
      c10::DataPtr bytes(own->mutable_data(), c10::Device(c10::DeviceType::CPU));
      c10::Storage storage(c10::Storage::use_byte_size_t(), own->nbytes(), std::move(bytes), c10::GetCPUAllocator(), true);
      storages_.emplace_back(own, std::move(storage));
      found = std::prev(storages_.end());
    }
    auto lent = made_of(found->second, tensor, c10::DispatchKeySet(c10::DispatchKey::CPU));
    if (tensor.is_conj()) lent._set_conj(true);
    if (tensor.is_neg()) lent._set_neg(true);
    tensors_.emplace_back(tensor, lent);
    return lent;
  }

  IValue lend(const IValue& value) {
    if (value.isTensor()) return is_ours(value.toTensor()) ? IValue(lend(value.toTensor())) : value;
    if (value.isTensorList()) {
      c10::List<Tensor> made;
      for (const Tensor& one : value.toTensorVector()) made.push_back(is_ours(one) ? lend(one) : one);
      return made;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<Tensor>> made;
      for (const std::optional<Tensor>& one : value.toOptionalTensorVector())
        made.push_back(one && is_ours(*one) ? std::optional<Tensor>(lend(*one)) : one);
      return made;
    }
    if (value.isList() && value.toListRef().size() && value.toListRef()[0].isTensorList()) {
      c10::List<c10::List<Tensor>> made;  // of operations between processes
      for (const IValue& one : value.toListRef()) made.push_back(lend(one).toTensorList());
      return made;
    }
    if (value.isDevice()) {
      names_device_ = true;
      if (value.toDevice().type() != CUDA) return value;
      if (value.toDevice().has_index()) device_ = value.toDevice();
      to_device_ = true;
      return c10::Device(c10::DeviceType::CPU);
    }
    if (value.isGenerator()) {
      auto generator = value.toGenerator();
      if (auto* own = dynamic_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl())) {
        generators_.emplace_back(own, own->device().index());
        own->lend(true, 0);
      }
      return value;
    }
    return value;
  }

  Tensor given_back(const Tensor& result) const {
    if (!result.defined() || result.layout() != c10::kStrided || result.device().type() == CUDA) return result;
    for (const auto& [own, lent] : tensors_) {
      if (lent.unsafeGetTensorImpl() == result.unsafeGetTensorImpl()) return own;
    }
    if (!result.has_storage()) return result;
    auto* storage = result.storage().unsafeGetStorageImpl();
    for (const auto& [own, lent] : storages_) {
      if (lent.unsafeGetStorageImpl() == storage) return viewed(own, result);
    }
    if (names_device_ && !to_device_) return result;  // the program asks for the CPU
    const c10::DeviceGuard guard(device_);
    auto bytes = allocator.allocate(storage->nbytes());
    if (storage->nbytes()) check(hipMemcpy(bytes.get(), storage->data(), storage->nbytes(), TO_DEVICE));
    c10::Storage moved(c10::Storage::use_byte_size_t(), storage->nbytes(), std::move(bytes), &allocator, true);
    auto made = made_of(std::move(moved), result, KEYS);
    if (result.is_conj()) made._set_conj(true);
    if (result.is_neg()) made._set_neg(true);
    return made;
  }

  IValue given_back(const IValue& value) const {
    if (value.isTensor()) return given_back(value.toTensor());
    if (value.isTensorList()) {
      c10::List<Tensor> made;
      for (const Tensor& one : value.toTensorVector()) made.push_back(given_back(one));
      return made;
    }
    return value;
  }

  /// What the operation changed in place: shapes, and bytes.
  void changed(const c10::FunctionSchema& schema, c10::ArrayRef<IValue> arguments) const {
    for (size_t number = 0; number < arguments.size(); ++number) {
      const auto* alias = schema.arguments()[number].alias_info();
      if (!alias || !alias->isWrite()) continue;
      const auto& value = arguments[number];
      if (value.isTensor()) changed(value.toTensor());
      if (value.isTensorList()) for (const Tensor& one : value.toTensorVector()) changed(one);
      if (value.isList() && !value.isTensorList()) {
        for (const IValue& several : value.toListRef())
          if (several.isTensorList()) for (const Tensor& one : several.toTensorVector()) changed(one);
      }
    }
  }

  ~Lent() {
    for (auto& [generator, index] : generators_) generator->lend(false, index);
  }

 private:
  static Tensor viewed(c10::StorageImpl* own, const Tensor& result) {
    auto counted = c10::intrusive_ptr<c10::StorageImpl>::unsafe_reclaim_from_nonowning(own);
    auto made = made_of(c10::Storage(std::move(counted)), result, KEYS);
    if (result.is_conj()) made._set_conj(true);
    if (result.is_neg()) made._set_neg(true);
    return made;
  }

  void changed(const Tensor& lent) const {
    for (const auto& [own, other] : tensors_) {
      if (other.unsafeGetTensorImpl() != lent.unsafeGetTensorImpl()) continue;
      if (lent.sizes() != own.sizes() || lent.strides() != own.strides()) take_shape(own, lent.sizes(), lent.strides());
      if (lent.numel() && lent.storage().data() != own.storage().data()) {  // it was given other memory
        const auto bytes = std::min(lent.storage().nbytes(), own.storage().nbytes());
        check(hipMemcpy(own.storage().mutable_data(), lent.storage().data(), bytes, TO_DEVICE));
      } else {
        note_written(own);
      }
      return;
    }
  }

  std::vector<std::pair<c10::StorageImpl*, c10::Storage>> storages_;
  std::vector<std::pair<Tensor, Tensor>> tensors_;
  std::vector<std::pair<DeviceGenerator*, DeviceIndex>> generators_;
  c10::Device device_{CUDA, 0};
  bool names_device_ = false, to_device_ = false;
};

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const auto count = schema.arguments().size();
  Lent lent;
  std::vector<IValue> arguments(stack->end() - static_cast<int64_t>(count), stack->end());
  for (auto& value : arguments) value = lent.lend(value);
  torch::jit::drop(*stack, count);
  for (const auto& value : arguments) stack->push_back(value);
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    op.callBoxed(stack);
  }
  lent.changed(schema, arguments);
  const auto results = schema.returns().size();
  for (auto value = stack->end() - static_cast<int64_t>(results); value != stack->end(); ++value)
    *value = lent.given_back(*value);
}

Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
             std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(device && device->has_index() ? device : std::nullopt);
  return at::detail::empty_generic(size, &allocator, KEYS, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(device && device->has_index() ? device : std::nullopt);
  return at::detail::empty_strided_generic(size, stride, &allocator, KEYS, c10::dtype_or_default(dtype));
}

const Tensor& resize(const Tensor& self, c10::IntArrayRef size, std::optional<at::MemoryFormat>) {
  std::vector<int64_t> strides(size.size(), 1);
  for (int64_t dim = static_cast<int64_t>(size.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * std::max<int64_t>(size[dim + 1], 1);
  take_shape(self, size, strides);
  return self;
}

Tensor& set_storage(Tensor& self, at::Storage source, int64_t offset, c10::IntArrayRef size, c10::IntArrayRef stride) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  if (stride.empty() && !size.empty()) return const_cast<Tensor&>(resize(self, size, std::nullopt));
  take_shape(self, size, stride);
  return self;
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

Tensor& set_whole(Tensor& self, at::Storage source) {
  const auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_storage(self, std::move(source), 0, {count}, {1});
}

Tensor& set_empty(Tensor& self) {
  c10::Storage none(c10::Storage::use_byte_size_t(), 0, &allocator, true);
  return set_storage(self, none, 0, {0}, {1});
}

/// A copy to the CPU waits for the device, and tells of its error.
Tensor& copy(Tensor& self, const Tensor& source, bool) {
  if (self.device().type() == c10::DeviceType::CPU) check(hipDeviceSynchronize());
  Lent lent;
  auto to = is_ours(self) ? lent.lend(self) : self;
  const auto from = is_ours(source) ? lent.lend(source) : source;
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    to.copy_(from);
  }
  if (is_ours(self)) note_written(self);
  return self;
}

at::Scalar scalar(const Tensor& self) {
  check(hipDeviceSynchronize());
  Lent lent;
  const at::AutoDispatchBelowADInplaceOrView below;
  return lent.lend(self).item();
}

/// Zeros that fill whole pages take no memory.
Tensor& zero(Tensor& self) {
  runs(self, [](char* first, int64_t size) { check(hipMemset(first, 0, size)); });
  return self;
}

void record_stream(Tensor&, at::Stream) {}

TORCH_LIBRARY_IMPL(_, CUDA, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("resize_", &resize);
  library.impl("set_.source_Storage_storage_offset", &set_storage);
  library.impl("set_.source_Storage", &set_whole);
  library.impl("set_.source_Tensor", &set_tensor);
  library.impl("set_", &set_empty);
  library.impl("copy_", &copy);
  library.impl("_local_scalar_dense", &scalar);
  library.impl("zero_", &zero);
  library.impl("record_stream", &record_stream);
}

/// Operations of groups of processes: PyTorch's own for "cuda" ask for a backend that a CPU build has not.
void serve_groups() {
  struct Silent : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  } silent;
  const c10::WarningUtils::WarningHandlerGuard guard(&silent);  // that kernels are replaced
  static std::vector<torch::Library> kept;
  auto& library = kept.emplace_back(torch::Library::IMPL, "c10d", std::make_optional(c10::DispatchKey::CUDA), __FILE__,
                                    __LINE__);
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("c10d::", 0) || !name.overload_name.empty()) continue;
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (op && op->hasSchema() && op->hasKernelForDispatchKey(c10::DispatchKey::CUDA))
      library.impl(name.name.c_str() + 6, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
  }
}

}  // namespace

extern "C" {
extern void* mfmasim_cuda_hooks;  // answers.c

/// From now on tensors of device "cuda" can be made.
void mfmasim_begin_tensors(void (*note)(uint64_t, uint64_t)) {
  written = note;
  serve_groups();
  const at::CUDAHooksInterface& base = at::hooks;
  mfmasim_cuda_hooks = const_cast<at::CUDAHooksInterface*>(&base);
}
}
