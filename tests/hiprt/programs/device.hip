// What kernels and launches can do beyond the ordinary: a heap, virtual functions, grids that wait, ROCm's own names.
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_hcc.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

// What libraries of kernels take for granted of ROCm's headers.
#if !defined(HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H) || !defined(__HIP_PLATFORM_AMD__)
#error "rocThrust and hipCUB ask for these names"
#endif
static_assert(std::chrono::seconds(1).count() == 1 && UINT_MAX == 0xffffffffu);
#if defined(__HIP_DEVICE_COMPILE__)
static_assert(__AMDGCN_WAVEFRONT_SIZE == 64 || __AMDGCN_WAVEFRONT_SIZE == 32);
#endif

struct Shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Box : Shape {
  int a, b;
  __device__ Box(int a_, int b_) : a(a_), b(b_) {}
  __device__ int area() const override { return a * b; }
};
struct Square : Shape {
  int a;
  __device__ explicit Square(int a_) : a(a_) {}
  __device__ int area() const override { return a * a; }
};

template <typename T_>
__host__ __device__ T_ *placed(void *room, int a) {
  return new (room) T_(a);
}

template <typename T_>
__host__ __device__ T_ *taken(size_t count) {
  return (T_ *)std::malloc(count * sizeof(T_));
}
template <typename T_>
__host__ __device__ void given_back(T_ *taken) {
  std::free(taken);
}

__global__ void objects(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  alignas(Square) unsigned char room[sizeof(Square)];
  Shape *near = placed<Square>(room, 1);
  int *single = new (std::nothrow_t{}) int(0);
  int *mine = taken<int>(i % 7 + 1);
  for (int j = 0; j <= i % 7; ++j) mine[j] = i + j;
  Shape *shape = i & 1 ? (Shape *)new Box(i, 2) : (Shape *)new Square(i);
  int *more = new int[3]{1, 2, 3};
  out[i] = mine[i % 7] + shape->area() + more[2] * near->area() + *single;
  near->~Shape();
  delete single;
  delete shape;
  delete[] more;
  given_back(mine);
}

// More than the heap holds in all: what was freed is used again.
__global__ void again(int *out) {
  int *first = (int *)malloc(600000);
  int *second = (int *)malloc(600000);
  int *zeros = (int *)calloc(100, 4);
  out[0] = first != nullptr;
  out[1] = second != nullptr;
  out[2] = zeros[0] + zeros[99];
  free(first);
  out[3] = malloc(500000) == first;
  free(zeros);
  free(nullptr);
  out[4] = malloc(0) == nullptr && malloc(~size_t(0)) == nullptr;
}
__global__ void twice() {
  void *given = malloc(8);
  free(given);
  free(given);
}

__global__ void waits(int *a, int *b, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = (int)grid.thread_rank();
  b[i] = -1;
  if (!grid.is_valid()) return;
  for (int round = 1; round <= 2; ++round) {
    a[i] = i * round;
    grid.sync();
    b[i] = a[n - 1 - i];
    grid.sync();
  }
}

// As rocWMMA does for types of its own.
struct Number {
  float value;
};
template <>
struct HIP_vector_base<Number, 8> {
  Number data[8];
};
template <>
__host__ __device__ inline HIP_vector_type<Number, 8> &HIP_vector_type<Number, 8>::operator++() noexcept {
  for (Number &one : data) one.value += 2;
  return *this;
}

__global__ void names(float *f, unsigned *u) {
  size_t i = __ockl_get_global_id(0);
  f[i] = __ocml_exp2_f32((float)i) + __ocml_fma_f32(2, 3, 1) + (float)__ocml_pow_f64(3.0, 2.0) +
         __ocml_copysign_f32(1, -1) + __ocml_native_recip_f32(4) + (float)__ocml_rsqrt_f16((_Float16)4) +
         std::nearbyint(2.5f) + std::copysign(1.0f, -2.0f);
  constexpr int lanes = warpSize;
  HIP_vector_type<Number, 8> wide = {};
  ++wide;
  int2 pair = {1u + threadIdx.x / blockDim.x, 2ul};
  ++pair;
  pair++;
  if (lanes != (int)warpSize || wide[7].value + std::expf(0.0f) + pair.y != 7) f[i] = -1;
  u[i] = __ockl_lane_u32() + 100 * __ockl_activelane_u32() + 10000 * (unsigned)__ockl_get_local_size(0) +
         __ockl_clz_u32(1);
}

// A value, NaNs that lose their lower bits, and what std:: says of them.
__global__ void older_bfloats(hip_bfloat16 *out) {
  out[0] = 1.5f;
  unsigned codes[] = {0x7f800001, 0x7fc00001};
  for (int i = 0; i < 2; ++i) out[1 + i] = hip_bfloat16(__uint_as_float(codes[i]), hip_bfloat16::truncate);
  hip_bfloat16 infinite(HUGE_VALF), none(-0.0f);
  out[3].data = std::isnan(out[1]) | std::isnan(infinite) << 1 | std::isinf(infinite) << 2 | std::iszero(none) << 3;
}

// Groups of 16 lanes, each with a mask of its own.
__global__ void masks(int *right, __hip_bfloat162 *sums, float *most) {
  __shared__ __hip_bfloat162 total;
  if (threadIdx.x == 0) total = sums[1];
  __syncthreads();
  unsigned lane = __lane_id(), group = lane / 16;
  unsigned long long mask = 0xffffull << (16 * group);
  int alike, different;
  bool whole = __match_all_sync(mask, group, &alike) == mask && __match_all_sync(mask, lane, &different) == 0;
  right[threadIdx.x] = whole && alike && !different;
  unsafeAtomicAdd(&total, __hip_bfloat162(1.0f, 2.0f));
  unsafeAtomicAdd(sums, __hip_bfloat162(2.0f, 1.0f));
  unsafeAtomicMax(most, (float)lane);
  __syncthreads();
  if (threadIdx.x == 0) sums[1] = total;
}

#if defined(__HIP_NO_IMAGE_SUPPORT) && __HIP_NO_IMAGE_SUPPORT
texture<float, hipTextureType2D, hipReadModeElementType> reference;
__global__ void reads(float4 *out, hipTextureObject_t object, hipSurfaceObject_t target) {
  out[0] = tex2D<float4>(object, 1.0f, 2.0f);
  out[0].x += tex2D(reference, 0.5f, 0.5f) + tex1Dfetch<float>(object, 3);
  surf2Dwrite(out[0], target, 0, 0);
}
#endif

static void print_error(const char *what, hipError_t error) { printf("%s %s\n", what, hipGetErrorName(error)); }

static void print_masks(void *room, int *numbers) {
  float *floats = (float *)room;
  int right[64];
  float sums[3];
  (void)hipMemset(floats, 0, sizeof sums);
  masks<<<1, 64>>>(numbers, (__hip_bfloat162 *)floats, floats + 2);
  (void)hipMemcpy(right, numbers, sizeof right, hipMemcpyDeviceToHost);
  (void)hipMemcpy(sums, floats, sizeof sums, hipMemcpyDeviceToHost);
  const __hip_bfloat162 *pairs = (const __hip_bfloat162 *)sums;
  int count = 0;
  for (int one : right) count += one;
  printf("masks %d: %g %g, %g %g, %g\n", count, (float)pairs[0].x, (float)pairs[0].y, (float)pairs[1].x,
         (float)pairs[1].y, sums[2] < 32 ? sums[2] + 32 : sums[2]);
}

int main(int argc, char **argv) {
  const size_t many = 1ul << 40;
  if (double2{many, 1.0f}.x != many || float3{many, 1, 2u}.z != 2) return 4;
  if (hipCabsf({3, 4}) != 5 || hipCabs({6, 8}) != 10) return 3;
  if (argc > 1 && !std::strcmp(argv[1], "limit")) {
    int *out, host[5];
    size_t bytes = 0;
    (void)hipMalloc(&out, sizeof host);
    print_error("chosen", hipDeviceSetLimit(hipLimitMallocHeapSize, 4 << 20));
    again<<<1, 1>>>(out);
    (void)hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
    print_error("late", hipDeviceSetLimit(hipLimitMallocHeapSize, 8 << 20));
    (void)hipDeviceGetLimit(&bytes, hipLimitMallocHeapSize);
    printf("heap of %zu: %d %d\n", bytes, host[0], host[1]);
    return 0;
  }
  if (argc > 1) {
    bool texture = !std::strcmp(argv[1], "texture");
    if (texture) reads<<<1, 1>>>(nullptr, nullptr, nullptr);
    else twice<<<1, 1>>>();
    print_error(argv[1], hipDeviceSynchronize());
    return 0;
  }
  constexpr int n = 6 * 64;
  int *a, *b, host[n], wrong = 0, count = n;
  (void)hipMalloc(&a, sizeof host);
  (void)hipMalloc(&b, sizeof host);
  for (int round = 0; round < 2; ++round) objects<<<2, 64>>>(a);
  (void)hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost);
  for (int i = 0; i < 128; ++i) wrong += host[i] != i + i % 7 + (i & 1 ? 2 * i : i * i) + 3;
  again<<<1, 1>>>(a);
  (void)hipMemcpy(host, a, sizeof host, hipMemcpyDeviceToHost);
  size_t bytes = 0;
  (void)hipDeviceGetLimit(&bytes, hipLimitMallocHeapSize);
  printf("objects %d wrong; heap of %zu: %d %d %d %d %d\n", wrong, bytes, host[0], host[1], host[2], host[3], host[4]);

  void *arguments[] = {&a, &b, &count};
  auto right = [&](const char *what, hipError_t error) {
    (void)hipMemcpy(host, b, sizeof host, hipMemcpyDeviceToHost);
    int good = 0;
    for (int i = 0; i < n; ++i) good += host[i] == 2 * (n - 1 - i);
    printf("%s %s: %d of %d\n", what, hipGetErrorName(error), good, n);
  };
  right("cooperative", hipLaunchCooperativeKernel(waits, dim3(6), dim3(64), arguments, 0, 0));
  waits<<<6, 64>>>(a, b, n);
  right("alone", hipGetLastError());
  print_error("too large", hipLaunchCooperativeKernel(waits, dim3(1 << 20), dim3(64), arguments, 0, 0));
  hipLaunchAttribute attributes[2];
  attributes[0].id = hipLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = hipLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = 2;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  hipLaunchConfig_t config = {};
  config.gridDim = dim3(6);
  config.blockDim = dim3(64);
  config.attrs = attributes;
  config.numAttrs = 1;
  right("configured", hipLaunchKernelExC(&config, (const void *)waits, arguments));
  config.numAttrs = 2;
  waits<<<6, 64>>>(a, b, n);
  right("clusters", hipLaunchKernelEx(&config, waits, a, b, n));
  hipFunction_t function;
  (void)hipGetFuncBySymbol(&function, waits);
  print_error("items", hipExtModuleLaunchKernel(function, n, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
  print_error("part", hipHccModuleLaunchKernel(function, n + 1, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));

  float results[64];
  unsigned places[64];
  names<<<1, 64>>>((float *)a, (unsigned *)b);
  (void)hipMemcpy(results, a, sizeof results, hipMemcpyDeviceToHost);
  (void)hipMemcpy(places, b, sizeof places, hipMemcpyDeviceToHost);
  printf("names %g %u\n", results[3], places[3]);

  volatile float singles[] = {1.00390625f, 1.01171875f, 3.4e38f};
  volatile double doubles[] = {1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-52, -3.4e38};
  __bf16 narrow[6];
  for (int i = 0; i < 3; ++i) narrow[i] = (__bf16)singles[i], narrow[i + 3] = (__bf16)doubles[i];
  unsigned short codes[6];
  memcpy(codes, narrow, sizeof codes);
  printf("bfloat16 %x %x %x %x %x %x\n", codes[0], codes[1], codes[2], codes[3], codes[4], codes[5]);
  older_bfloats<<<1, 4>>>((hip_bfloat16 *)b);
  hip_bfloat16 older[4];
  (void)hipMemcpy(older, b, sizeof older, hipMemcpyDeviceToHost);
  std::stringstream text;
  text << older[0];
  printf("hip_bfloat16 %s %x %x %x\n", text.str().c_str(), older[1].data, older[2].data, older[3].data);

  print_masks(a, b);

  hipArray_t array;
  hipChannelFormatDesc channels = hipCreateChannelDesc<short4>();
  printf("channels %d %d %d %d kind %d\n", channels.x, channels.y, channels.z, channels.w, channels.f);
  print_error("array", hipMallocArray(&array, &channels, 16, 16));
  const char *header = "";
  unsigned size = 1;
  __hipGetPCH(&header, &size);
  return header != nullptr || size != 0;
}
