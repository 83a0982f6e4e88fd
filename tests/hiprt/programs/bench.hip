// CPU time of a launch of an empty kernel, and of a copy of 64 MiB to the device relative to memcpy.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

__global__ void empty() {}

static double seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

int main() {
  const int launches = 200, copies = 5;
  const size_t size = 64 << 20;
  for (int i = 0; i < 5; ++i) empty<<<1, 64>>>();
  double start = seconds();
  for (int i = 0; i < launches; ++i) empty<<<1, 64>>>();
  double launch = (seconds() - start) / launches;

  std::vector<char> from(size, 1), to(size, 2);
  char *device;
  if (hipMalloc(&device, size) != hipSuccess) return 2;
  (void)hipMemcpy(device, from.data(), size, hipMemcpyHostToDevice);
  start = seconds();
  for (int i = 0; i < copies; ++i) (void)hipMemcpy(device, from.data(), size, hipMemcpyHostToDevice);
  double copy = seconds() - start;
  start = seconds();
  for (int i = 0; i < copies; ++i) memcpy(to.data(), from.data(), size), from[i] = to[size - 1];
  double plain = seconds() - start;
  std::printf("launch of an empty kernel: %.2f ms CPU\ncopy of 64 MiB: %.2f times memcpy\n", launch * 1e3, copy / plain);
  return 0;
}
