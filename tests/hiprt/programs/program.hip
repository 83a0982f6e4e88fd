// A program with a kernel for every way that host code refers to device code; the first argument selects a part.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    hipError_t error = (call);                                                          \
    if (error != hipSuccess) {                                                          \
      printf("line %d: %s: %s\n", __LINE__, hipGetErrorName(error), hipGetErrorString(error)); \
      std::exit(9);                                                                     \
    }                                                                                   \
  } while (0)

__constant__ float factors[4];
__device__ int offset = 5;
__managed__ int counter = 40;

__global__ void scale(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factors[1] + offset;
  if (i == 0) {
    counter += 2;
    printf("kernel: %d\n", n);
  }
}

template <typename T>
__global__ void fill(T *out, T value) {
  extern __shared__ char raw[];
  T *shared = (T *)raw;
  shared[threadIdx.x] = value + T(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void everyone(int *out) { atomicAdd(out, 1); }
__global__ void stray(int *out, long far) { out[far] = 1; }

static std::vector<float> scaled(int n) {
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = float(i);
  float *from, *to, given[4] = {1, 3, 1, 1};
  CHECK(hipMalloc(&from, n * sizeof(float)));
  CHECK(hipMalloc((void **)&to, n * sizeof(float)));
  CHECK(hipMemcpy(from, in.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factors), given, sizeof given));
  scale<<<(n + 63) / 64, 64>>>(to, from, n);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(out.data(), to, n * sizeof(float), hipMemcpyDeviceToHost));
  CHECK(hipFree(from));
  CHECK(hipFree(to));
  return out;
}

static void symbols() {
  printf("before\n");
  printf("scaled %g\n", scaled(100)[99]);
  printf("managed %d\n", counter);
  int value = 0;
  void *place = nullptr;
  size_t size = 0;
  CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(offset), sizeof value));
  CHECK(hipGetSymbolAddress(&place, HIP_SYMBOL(factors)));
  CHECK(hipGetSymbolSize(&size, HIP_SYMBOL(factors)));
  float third = 0;
  CHECK(hipMemcpy(&third, (float *)place + 1, sizeof third, hipMemcpyDeviceToHost));
  printf("symbols %d %zu %g %d\n", value, size, third,
         hipMemcpyFromSymbol(&value, HIP_SYMBOL(offset), 2 * sizeof value) == hipErrorInvalidValue);
}

static void launches() {
  double *out;
  std::vector<double> host(64);
  CHECK(hipMalloc(&out, 64 * sizeof(double)));
  hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<double>), dim3(1), dim3(64), 64 * sizeof(double), 0, out, 0.5);
  CHECK(hipMemcpy(host.data(), out, 64 * sizeof(double), hipMemcpyDeviceToHost));
  printf("fill %g %g\n", host[0], host[63]);
  int *count, *pinned, blocks = 0, grid = 0, block = 0, cooperative = 0;
  CHECK(hipHostMalloc(&pinned, sizeof(int)));
  CHECK(hipMallocAsync(&count, sizeof(int), 0));
  CHECK(hipMemset(count, 0, sizeof(int)));
  void *arguments[] = {&count};
  CHECK(hipLaunchCooperativeKernel(everyone, dim3(2), dim3(32), arguments, 0, 0));
  CHECK(hipLaunchKernel((const void *)everyone, dim3(1, 2, 3), dim3(2, 2), arguments, 0, 0));
  hipFunction_t function;
  CHECK(hipGetFuncBySymbol(&function, (const void *)everyone));
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 5, 1, 1, 0, 0, arguments, nullptr));
  CHECK(hipMemcpy(pinned, count, sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, everyone, 64, 0));
  CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, everyone, 0, 0));
  CHECK(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, 0));
  hipFuncAttributes attributes;
  CHECK(hipFuncGetAttributes(&attributes, (const void *)everyone));
  printf("count %d resident %d block %d %d cooperative %d\n", *pinned, blocks > 0, block, attributes.maxThreadsPerBlock,
         cooperative);
  hipDeviceProp_t properties;
  int wave, units, threads;
  CHECK(hipGetDeviceProperties(&properties, 0));
  CHECK(hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, 0));
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  CHECK(hipDeviceGetAttribute(&threads, hipDeviceAttributeMaxThreadsPerBlock, 0));
  printf("device %s %d %d\n", properties.gcnArchName, properties.warpSize,
         properties.warpSize == wave && properties.multiProcessorCount == units && properties.maxThreadsPerBlock == threads);
  hipError_t (*malloc_by_name)(void **, size_t) = nullptr;
  hipDriverProcAddressQueryResult found;
  CHECK(hipGetProcAddress("hipMalloc", (void **)&malloc_by_name, HIP_VERSION, 0, &found));
  void *extra = nullptr;
  printf("by name %d %d\n", malloc_by_name(&extra, 16), extra != nullptr);
}

// Compiled while the program runs: a template, by its name expression.
static void compiled() {
  const char *source =
      "template <typename T> __global__ void power(T *out, T x) { *out = pow(x, T(POWER)); }\n";
  const char *lowered, *option[] = {"-DPOWER=3"};
  hiprtcProgram program;
  hiprtcCreateProgram(&program, source, "power.hip", 0, nullptr, nullptr);
  hiprtcAddNameExpression(program, "power<double>");
  hiprtcResult result = hiprtcCompileProgram(program, 1, option);
  size_t size = 0;
  hiprtcGetProgramLogSize(program, &size);
  std::vector<char> text(size + 1), code;
  hiprtcGetProgramLog(program, text.data());
  printf("compiled %s%s\n", hiprtcGetErrorString(result), result == HIPRTC_SUCCESS ? "" : text.data());
  hiprtcGetLoweredName(program, "power<double>", &lowered);
  hiprtcGetCodeSize(program, &size);
  code.resize(size);
  hiprtcGetCode(program, code.data());
  hipModule_t module;
  hipFunction_t function;
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&function, module, lowered));
  double *out, host = 0, x = 5;
  CHECK(hipMalloc(&out, sizeof(double)));
  void *arguments[] = {&out, &x};
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
  CHECK(hipMemcpy(&host, out, sizeof host, hipMemcpyDeviceToHost));
  hiprtcDestroyProgram(&program);
  hipEvent_t start, stop;
  float milliseconds = -1;
  int *count;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipMalloc(&count, sizeof(int)));
  CHECK(hipMemset(count, 0, sizeof(int)));
  hipExtLaunchKernelGGL(everyone, dim3(1), dim3(7), 0, 0, start, stop, 0, count);
  CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  int seven = 0;
  CHECK(hipMemcpy(&seven, count, sizeof seven, hipMemcpyDeviceToHost));
  printf("power %g events %d %d\n", host, milliseconds > 0, seven);
}

static void volumes() {
  hipPitchedPtr volume;
  CHECK(hipMalloc3D(&volume, make_hipExtent(20, 3, 2)));
  CHECK(hipMemset3D(volume, 7, make_hipExtent(20, 3, 2)));
  unsigned char host[2][3][20] = {};
  hipMemcpy3DParms copy = {};
  copy.srcPtr = volume;
  copy.dstPtr = make_hipPitchedPtr(host, 20, 20, 3);
  copy.extent = make_hipExtent(20, 3, 2);
  copy.kind = hipMemcpyDeviceToHost;
  CHECK(hipMemcpy3D(&copy));
  printf("volume %d %d %zu\n", host[0][0][0], host[1][2][19], volume.pitch % 256);
}

static void errors() {
  int other = 0;
  hipModule_t module;
  unsigned char image[4096] = {0x7f, 'E', 'L', 'F'};
  memset(image + 0x28, 0xf0, 24);
  printf("image %s\n", hipGetErrorName(hipModuleLoadData(&module, image)));
  memcpy(image, "__CLANG_OFFLOAD_BUNDLE__", 24);
  memset(image + 24, 0xff, 64);
  printf("bundle %s\n", hipGetErrorName(hipModuleLoadData(&module, image)));
  printf("symbol %s\n", hipGetErrorName(hipMemcpyToSymbol((const void *)&other, image, 4, 0, hipMemcpyHostToDevice)));
  printf("kernel %s\n", hipGetErrorName(hipLaunchKernel((const void *)&other, dim3(1), dim3(1), nullptr, 0, 0)));
  printf("texts %s / %s\n", hipGetErrorString((hipError_t)12345), hipGetErrorName((hipError_t)-1));
}

static void threads() {
  std::vector<std::thread> all;
  std::vector<float> results(4);
  std::vector<int> devices(4);
  for (int t = 0; t < 4; ++t)
    all.emplace_back([t, &results, &devices] {
      CHECK(hipSetDevice(t % 2));
      results[t] = scaled(64 + t)[63];
      CHECK(hipGetDevice(&devices[t]));
    });
  for (auto &one : all) one.join();
  for (int t = 0; t < 4; ++t) printf("thread %g %d\n", results[t], devices[t]);
}

static void forks() {
  float first = scaled(10)[9];
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    float again = scaled(10)[9];
    std::exit(again == first ? 5 : 6);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child %d parent %d\n", WEXITSTATUS(status), scaled(10)[9] == first);
}

// Threads make the first call together, and the process forks meanwhile.
static void races() {
  std::vector<std::thread> all;
  std::atomic<int> right{0};
  for (int t = 0; t < 12; ++t) all.emplace_back([&right] { right += scaled(64)[63] == scaled(64)[63]; });
  int good = 0;
  for (int n = 0; n < 3; ++n) {
    pid_t child = fork();
    if (!child) _exit(scaled(10)[9] == scaled(10)[9] ? 5 : 6);
    int status;
    waitpid(child, &status, 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 5;
  }
  for (auto &one : all) one.join();
  printf("threads %d children %d\n", right.load(), good);
}

int main(int count, char **words) {
  const char *part = count > 1 ? words[1] : "";
  if (!strcmp(part, "all")) symbols(), launches(), volumes(), errors();
  if (!strcmp(part, "compiled")) compiled();
  if (!strcmp(part, "threads")) threads();
  if (!strcmp(part, "forks")) forks();
  if (!strcmp(part, "races")) races();
  if (!strcmp(part, "exit")) {
    std::thread([] { scaled(10), std::exit(chdir("/") ? 4 : 3); }).join();
  }
  if (!strcmp(part, "stray")) {
    int *out;
    CHECK(hipMalloc(&out, 64));
    stray<<<1, 1>>>(out, 100000);
    printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
  }
  if (!strcmp(part, "stale")) {
    int *out, *next;
    CHECK(hipMalloc(&out, 64));
    CHECK(hipFree(out));
    CHECK(hipMalloc(&next, 64));
    stray<<<1, 1>>>(out, 0);
  }
  return 0;
}
