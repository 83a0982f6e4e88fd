// Sum of an array: a shuffle tree in each wave, one LDS slot a wave, one atomic a block. With its host program.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define HIP_CHECK(expression)                                                                       \
  {                                                                                                 \
    const hipError_t status = expression;                                                           \
    if (status != hipSuccess) {                                                                     \
      std::cerr << "HIP error " << status << ": " << hipGetErrorString(status) << " at " << __LINE__ << '\n'; \
      std::exit(-1);                                                                                \
    }                                                                                               \
  }
#include <iostream>

template <typename T>
__device__ __forceinline__ T wave_sum(T value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  return value;
}

template <typename T, unsigned BlockSize>
__global__ __launch_bounds__(BlockSize) void reduce_sum(const T* __restrict__ in, T* __restrict__ out, size_t count) {
  __shared__ T partial[BlockSize / 32];
  T sum = 0;
  const size_t stride = static_cast<size_t>(blockDim.x) * gridDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) sum += in[i];
  sum = wave_sum(sum);
  const unsigned lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
  if (lane == 0) partial[wave] = sum;
  __syncthreads();
  if (wave == 0) {
    sum = threadIdx.x < blockDim.x / warpSize ? partial[lane] : T(0);
    sum = wave_sum(sum);
    if (lane == 0) atomicAdd(out, sum);
  }
}
template __global__ void reduce_sum<int, 256>(const int*, int*, size_t);
template __global__ void reduce_sum<double, 128>(const double*, double*, size_t);

int main() {
  constexpr size_t count = 1 << 20;
  std::vector<float> host(count);
  std::iota(host.begin(), host.end(), 1.0f);
  float *in = nullptr, *out = nullptr, result = 0.0f;
  HIP_CHECK(hipMalloc(&in, count * sizeof(float)));
  HIP_CHECK(hipMalloc(&out, sizeof(float)));
  HIP_CHECK(hipMemcpy(in, host.data(), count * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemset(out, 0, sizeof(float)));
  hipEvent_t start, stop;
  HIP_CHECK(hipEventCreate(&start));
  HIP_CHECK(hipEventCreate(&stop));
  HIP_CHECK(hipEventRecord(start, hipStreamDefault));
  reduce_sum<float, 256><<<dim3(128), dim3(256), 0, hipStreamDefault>>>(in, out, count);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipEventRecord(stop, hipStreamDefault));
  HIP_CHECK(hipEventSynchronize(stop));
  float milliseconds{};
  HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  HIP_CHECK(hipMemcpy(&result, out, sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(in));
  HIP_CHECK(hipFree(out));
  std::printf("%g in %g ms\n", result, milliseconds);
  return EXIT_SUCCESS;
}
