// What a kernel finds when it starts: indices in three dimensions, arguments of every kind, constants, globals.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Every index and size, in three dimensions.
extern "C" __global__ void indices(uint4 *out) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned z = blockIdx.z * blockDim.z + threadIdx.z, width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  uint4 v = make_uint4(threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16, blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16,
                       blockDim.x | blockDim.y << 8 | blockDim.z << 16, gridDim.x | gridDim.y << 8 | gridDim.z << 16);
  out[(z * height + y) * width + x] = v;
}

// A stencil over an image whose size is no multiple of the workgroup's.
extern "C" __global__ void stencil(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float left = x > 0 ? in[y * width + x - 1] : 0.0f, right = x + 1 < width ? in[y * width + x + 1] : 0.0f;
  float up = y > 0 ? in[(y - 1) * width + x] : 0.0f, down = y + 1 < height ? in[(y + 1) * width + x] : 0.0f;
  out[y * width + x] = (left + right) - (up + down);
}

// Arguments of every size, in an order that leaves gaps.
extern "C" __global__ void arguments(unsigned char a, double b, short c, unsigned long long d, bool e, _Float16 f, int g,
                                     signed char h, float k, double *out) {
  unsigned i = global_index();
  double all[] = {(double)a, b, (double)c, (double)d, (double)e, (double)f, (double)g, (double)h, (double)k};
  out[i] = all[i % 9] + i / 9;
}

// A structure by value, with arrays and holes.
struct parameters {
  char tag;
  double scale;
  short steps[5];
  float3 origin;
  struct { unsigned char low, high; unsigned mask; } range[2];
};
extern "C" __global__ void structure(parameters p, unsigned *out, double *more) {
  unsigned i = global_index(), v = i * 2654435761u;
  for (int k = 0; k < 2; ++k)
    if ((v >> 24) >= p.range[k].low && (v >> 24) < p.range[k].high) v ^= p.range[k].mask;
  out[i] = v + p.steps[i % 5];
  more[i] = p.scale * (i % 3 == 0 ? p.origin.x : i % 3 == 1 ? p.origin.y : p.origin.z) + p.tag;
}

// Constant tables and global variables with initial values, read and written.
__constant__ unsigned primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ double halves[4] = {0.5, -1.5, 2.5, 1e300};
__device__ unsigned counter = 1000, cells[64];
extern "C" __global__ void globals(const unsigned *in, unsigned *out, double *scaled, unsigned *last) {
  unsigned i = global_index(), x = in[i];
  out[i] = primes[x & 15] * primes[blockIdx.x % 16] + cells[x & 63];
  scaled[i] = halves[x >> 30] * (double)x;
  __syncthreads();
  cells[threadIdx.x] = x; // the launch has one workgroup
  __syncthreads();
  atomicAdd(&counter, cells[63 - threadIdx.x] & 7);
  __syncthreads();
  last[i] = counter;
}

// The dispatch packet, which says how the kernel was launched.
extern "C" __global__ void packet(unsigned *out) {
  typedef const __attribute__((address_space(4))) unsigned short *words;
  words p = (words)__builtin_amdgcn_dispatch_ptr();
  unsigned i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  unsigned v = 0;
  for (int k = 2; k < 5; ++k) v = v * 31 + p[k]; // workgroup size
  for (int k = 6; k < 12; ++k) v = v * 31 + p[k]; // grid size in work-items
  out[i] = v;
}

// Many arguments that a compiler may ask to find in registers when the kernel starts (CDNA3).
extern "C" __global__ void preload(const int *in, int *out, int a, int b, int c, long long d, int e) {
  unsigned i = global_index();
  out[i] = in[i] * a - b + (c ^ (int)(d >> 20)) + e * (int)i;
}
