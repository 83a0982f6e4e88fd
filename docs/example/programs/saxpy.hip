// y = a * x + y, checked on the host.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1000;
  std::vector<float> x(n), y(n, 1.0f);
  for (int i = 0; i < n; ++i) x[i] = float(i);
  float *device_x, *device_y;
  if (hipMalloc(&device_x, n * sizeof(float)) != hipSuccess) return 2;
  if (hipMalloc(&device_y, n * sizeof(float)) != hipSuccess) return 2;
  (void)hipMemcpy(device_x, x.data(), n * sizeof(float), hipMemcpyHostToDevice);
  (void)hipMemcpy(device_y, y.data(), n * sizeof(float), hipMemcpyHostToDevice);
  saxpy<<<(n + 255) / 256, 256>>>(2.0f, device_x, device_y, n);
  (void)hipMemcpy(y.data(), device_y, n * sizeof(float), hipMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 2.0f * float(i) + 1.0f;
  std::printf("%d of %d wrong\n", wrong, n);
  (void)hipFree(device_x);
  (void)hipFree(device_y);
  return wrong != 0;
}
