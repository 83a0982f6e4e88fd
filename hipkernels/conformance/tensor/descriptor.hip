// One tensor instruction with a descriptor from memory: to an LDS that holds a pattern, or from an LDS that holds data.
#include <hip/hip_runtime.h>

typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
#define LDS __attribute__((address_space(3)))
#define BYTES 4096

struct Descriptor {
  i4 where;
  i8 shape;
  i4 second, third;
};

__device__ inline int uniform(unsigned value) { return __builtin_amdgcn_readfirstlane(value); }

// The address of the tile is given from the start of `memory`, that in the LDS from the start of `shared`.
__device__ Descriptor described(const unsigned *words, const void *memory, const void *shared) {
  Descriptor d;
  const size_t place = (size_t)memory + (unsigned)uniform(words[2]);
  d.where = {uniform(words[0]), uniform(words[1]) + (int)(size_t)(LDS const void *)shared, uniform((unsigned)place),
             uniform(words[3]) | uniform((unsigned)(place >> 32))};
  for (int k = 0; k < 8; ++k) d.shape[k] = uniform(words[4 + k]);
  for (int k = 0; k < 4; ++k) d.second[k] = uniform(words[12 + k]), d.third[k] = uniform(words[16 + k]);
  return d;
}

extern "C" __global__ void __launch_bounds__(32) to_lds(const unsigned *words, const unsigned *source, unsigned *out) {
  __shared__ unsigned shared[BYTES / 4];
  for (int i = threadIdx.x; i < BYTES / 4; i += 32) shared[i] = 0xC3C3C3C3u;
  __syncthreads();
  const Descriptor d = described(words, source, shared);
  __builtin_amdgcn_tensor_load_to_lds(d.where, d.shape, d.second, d.third, 0);
  __builtin_amdgcn_s_wait_tensorcnt(0);
  asm volatile("" ::: "memory");
  for (int i = threadIdx.x; i < BYTES / 4; i += 32) out[i] = shared[i];
}

extern "C" __global__ void __launch_bounds__(32) from_lds(const unsigned *words, const unsigned *source, unsigned *out) {
  __shared__ unsigned shared[BYTES / 4];
  for (int i = threadIdx.x; i < BYTES / 4; i += 32) shared[i] = source[i];
  __syncthreads();
  const Descriptor d = described(words, out, shared);
  __builtin_amdgcn_tensor_store_from_lds(d.where, d.shape, d.second, d.third, 0);
  __builtin_amdgcn_s_wait_tensorcnt(0);
}
