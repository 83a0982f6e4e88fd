// An ordinary program: standard headers, error checks, both launch syntaxes, host mathematics. Only the kernel counts.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#define HIP_CHECK(call)                                                          \
  do {                                                                           \
    hipError_t error = (call);                                                   \
    if (error != hipSuccess) {                                                   \
      std::cerr << hipGetErrorString(error) << " at " << __LINE__ << std::endl; \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

template <typename T>
__global__ void saxpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(n > 0);
  if (i < n) y[i] = std::max(a * x[i] + y[i], std::numeric_limits<T>::lowest());
}

__global__ void plain(float* y) { y[threadIdx.x] = fabsf(y[threadIdx.x]) + sqrtf(2.0f) + std::min(y[0], INFINITY); }

static float reference(float a, float x, float y) { return std::fma(a, x, y) + sinf(0.0f) + std::pow(x, 0.0f) - 1.0f; }

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
  std::vector<float> x(n, 1.0f), y(n, 2.0f);
  float *dx = nullptr, *dy = nullptr;
  hipDeviceProp_t properties;
  HIP_CHECK(hipGetDeviceProperties(&properties, 0));
  std::cout << properties.name << " " << std::string(properties.gcnArchName) << "\n";
  HIP_CHECK(hipMalloc(&dx, n * sizeof(float)));
  HIP_CHECK(hipMalloc((void**)&dy, n * sizeof(float)));
  HIP_CHECK(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemset(dy, 0, n * sizeof(float)));
  hipStream_t stream;
  HIP_CHECK(hipStreamCreate(&stream));
  hipEvent_t start, stop;
  HIP_CHECK(hipEventCreate(&start));
  HIP_CHECK(hipEventCreate(&stop));
  HIP_CHECK(hipEventRecord(start, stream));
  dim3 block(256), grid((n + block.x - 1) / block.x);
  saxpy<<<grid, block, 0, stream>>>(2.0f, dx, dy, n);
  hipLaunchKernelGGL(plain, dim3(1), dim3(64), 0, stream, dy);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(saxpy<double>), grid, block, 0, 0, 2.0, nullptr, nullptr, n);
  HIP_CHECK(hipFuncSetAttribute(plain, hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipEventRecord(stop, stream));
  HIP_CHECK(hipEventSynchronize(stop));
  float milliseconds = 0;
  HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
  auto worst = std::max_element(y.begin(), y.end());
  printf("%f %f %g\n", *worst, reference(2.0f, x[0], 2.0f), std::chrono::duration<double>(1.0).count());
  HIP_CHECK(hipFree(dx));
  HIP_CHECK(hipFree(dy));
  return 0;
}
