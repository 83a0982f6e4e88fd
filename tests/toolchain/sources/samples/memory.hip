// LDS and global memory: histogram, transpose, scan, stencil, dynamic LDS, constant memory, read-only loads.
#include "hip/hip_runtime.h"
#include <cstdint>

constexpr int tile_dim = 32, block_rows = 8, radius = 3;
__constant__ float weights[2 * radius + 1] = {0.0625f, 0.125f, 0.1875f, 0.25f, 0.1875f, 0.125f, 0.0625f};
__device__ unsigned int launches = 0;

__global__ void histogram(const uint8_t* data, unsigned int* bins, int count) {
  __shared__ unsigned int local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0u;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
  if (threadIdx.x == 0) atomicAdd(&launches, 1u);
}

__global__ void transpose(float* out, const float* in, const int width, const int height) {
  __shared__ float tile[tile_dim][tile_dim + 1];
  int x = hipBlockIdx_x * tile_dim + hipThreadIdx_x, y = hipBlockIdx_y * tile_dim + hipThreadIdx_y;
  for (int j = 0; j < tile_dim; j += block_rows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * tile_dim + threadIdx.x, y = blockIdx.x * tile_dim + threadIdx.y;
  for (int j = 0; j < tile_dim; j += block_rows)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void inclusive_scan(int* data, int count) {
  extern __shared__ int buffer[];
  const unsigned i = threadIdx.x;
  buffer[i] = i < count ? data[i] : 0;
  for (unsigned offset = 1; offset < blockDim.x; offset <<= 1) {
    __syncthreads();
    int other = i >= offset ? buffer[i - offset] : 0;
    __syncthreads();
    buffer[i] += other;
  }
  if (i < count) data[i] = buffer[i];
}

__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, dim3 size) {
  HIP_DYNAMIC_SHARED(float, row)
  const int i = threadIdx.x, x = blockIdx.x * blockDim.x + i;
  for (int k = i; k < (int)blockDim.x + 2 * radius; k += blockDim.x) {
    int source = (int)(blockIdx.x * blockDim.x) + k - radius;
    row[k] = source >= 0 && source < (int)size.x ? __ldg(&in[source]) : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k <= 2 * radius; ++k) sum = fmaf(row[i + k], weights[k], sum);
  if (x < size.x) out[x] = sum;
}
