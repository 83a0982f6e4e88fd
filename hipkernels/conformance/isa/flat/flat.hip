// Generic addresses: one pointer that may lead to memory, to LDS or to scratch.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Neighbouring lanes read and write three different spaces with one instruction.
extern "C" __global__ void __launch_bounds__(64) flat_spaces(unsigned *data, const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[64];
  volatile unsigned own[4];
  unsigned t = threadIdx.x, i = global_index(), x = in[i];
  tile[t] = x ^ 0x1111;
  for (int k = 0; k < 4; ++k) own[k] = x + k;
  __syncthreads();
  volatile unsigned *p = x % 3 == 0 ? &data[i] : x % 3 == 1 ? &tile[t] : &own[x & 3];
  unsigned old = *p;
  *p = old * 5 + 1;
  __syncthreads();
  out[i] = old ^ *p ^ tile[t] ^ own[1];
}

// Every width through a generic pointer.
struct triple { unsigned x, y, z; };
template <typename T>
__device__ __attribute__((noinline)) T fetch(const T *from) { return *from; }
extern "C" __global__ void __launch_bounds__(64) flat_widths(const unsigned *in, uint4 *out, int *small) {
  __shared__ uint4 tile[64];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x;
  const uint4 *words = (const uint4 *)in;
  tile[t] = words[i];
  __syncthreads();
  const uint4 *p = t & 1 ? &tile[63 - t] : &words[i];
  uint4 four = fetch(p);
  triple three = fetch((const triple *)p);
  unsigned long long two = fetch((const unsigned long long *)p);
  out[i] = make_uint4(four.x ^ four.y ^ four.z ^ four.w, three.x - three.y - three.z, (unsigned)(two >> 32 ^ two * 7),
                      fetch((const unsigned *)p));
  small[i] = fetch((const signed char *)p + 5);
  small[n + i] = fetch((const unsigned char *)p + 6);
  small[2 * n + i] = fetch((const short *)p + 7);
  small[3 * n + i] = fetch((const unsigned short *)p + 1);
}

// Atomics through a generic pointer.
extern "C" __global__ void __launch_bounds__(64) flat_atomics(unsigned *data, const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[64];
  unsigned t = threadIdx.x, i = global_index(), n = gridDim.x * blockDim.x, x = in[i];
  tile[t] = ~x;
  __syncthreads();
  unsigned *p = x & 4 ? &tile[t] : &data[i];
  out[i] = __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  out[n + i] = __hip_atomic_exchange(p, i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_xor(p, x >> 5, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  out[2 * n + i] = tile[t];
}

// Which space an address belongs to, by the apertures.
extern "C" __global__ void __launch_bounds__(64) flat_apertures(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[64];
  volatile unsigned own[2] = {1, 2};
  unsigned t = threadIdx.x, i = global_index(), x = in[i];
  tile[t] = x;
  const void *p = x % 3 == 0 ? (const void *)&in[i] : x % 3 == 1 ? (const void *)&tile[t] : (const void *)&own[x & 1];
  out[i] = __builtin_amdgcn_is_shared(p) | __builtin_amdgcn_is_private(p) << 1 | own[x & 1] << 4;
}
