// Loops for tests/bench/bench_native.py: one in scalar registers, one whose lanes leave at different times, one of floats.
#include <hip/hip_runtime.h>
extern "C" __global__ void scalar(unsigned *out, int trips, int seed) {
  unsigned a = seed;
  for (int i = 0; i < trips; i++) {
    a = a * 1664525u + 1013904223u;
    a ^= a >> 13;
    a += i;
    a = (a << 7) | (a >> 25);
  }
  out[threadIdx.x] = a;
}
extern "C" __global__ void collatz(unsigned *out, int seed) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = ((unsigned)(id * 2654435761u + seed) >> 8) | 1, n = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v >> 1;
    n++;
  }
  out[id] = n;
}
extern "C" __global__ void mandel(unsigned *out, int width, int limit) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = -2.0f + 3.0f * (float)(id % width) / width, cy = -1.5f + 3.0f * (float)(id / width) / width;
  float x = 0, y = 0;
  unsigned n = 0;
  while (x * x + y * y <= 4.0f && n < (unsigned)limit) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    n++;
  }
  out[id] = n;
}
