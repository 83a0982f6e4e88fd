// Loops for tests/bench/bench_native.py: one in scalar registers, one whose lanes leave at different times, one of floats;
// and loops with loads, the LDS and barriers.
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
extern "C" __global__ void product(float *c, const float *a, const float *b, int n) {
  int i = blockIdx.y * 16 + threadIdx.x / 16, j = blockIdx.x * 16 + threadIdx.x % 16;
  float s = 0;
  for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
  c[i * n + j] = s;
}
extern "C" __global__ void sums(unsigned *out, const unsigned *in, int rounds) {
  __shared__ unsigned s[256];
  unsigned t = threadIdx.x, acc = 0;
  for (int r = 0; r < rounds; r++) {
    s[t] = in[(r * 256 + t) % 1024] * (t + r);
    __syncthreads();
    for (unsigned d = 128; d > 0; d >>= 1) {
      if (t < d) s[t] += s[t + d];
      __syncthreads();
    }
    acc += s[0];
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = acc + t;
}
template <int UNROLL> __device__ void sort(unsigned *data, unsigned *s, unsigned n) {
  unsigned t = threadIdx.x, base = blockIdx.x * n;
  s[t] = data[base + t];
  s[t + 256] = data[base + t + 256];
#pragma unroll UNROLL
  for (unsigned k = 2; k <= n; k <<= 1)
#pragma unroll UNROLL
    for (unsigned j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      unsigned i = 2 * t - (t & (j - 1)), p = i + j, a = s[i], b = s[p];
      bool up = (i & k) == 0;
      if ((a > b) == up) {
        s[i] = b;
        s[p] = a;
      }
    }
  __syncthreads();
  data[base + t] = s[t];
  data[base + t + 256] = s[t + 256];
}
extern "C" __global__ void bitonic(unsigned *data) {
  __shared__ unsigned s[512];
  sort<16>(data, s, 512);
}
extern "C" __global__ void bitonic_loop(unsigned *data) {
  __shared__ unsigned s[512];
  sort<1>(data, s, 512);
}
