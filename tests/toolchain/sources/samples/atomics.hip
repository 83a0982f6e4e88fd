// Atomics as samples use them: loops of compare and swap, signed and float extremes, scopes, counters, fences.
#include <hip/hip_runtime.h>

__device__ double add_by_cas(double* address, double value) {
  unsigned long long int* word = (unsigned long long int*)address;
  unsigned long long int old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__device__ __forceinline__ float max_by_bits(float* address, float value) {
  return value >= 0 ? __int_as_float(atomicMax((int*)address, __float_as_int(value)))
                    : __uint_as_float(atomicMin((unsigned int*)address, __float_as_uint(value)));
}

__global__ void extremes(const float* in, float* out, double* sum, int* ints, unsigned long long* longs) {
  float x = in[blockIdx.x * blockDim.x + threadIdx.x];
  max_by_bits(out, x);
  atomicMax(out + 1, x);
  atomicMin(out + 2, x);
  add_by_cas(sum, (double)x);
  atomicAdd(sum + 1, (double)x);
  atomicMax(ints, (int)x);
  atomicMin(ints + 1, (int)x);
  atomicOr(ints + 2, 1 << (threadIdx.x & 31));
  atomicMax(longs, (unsigned long long)(threadIdx.x + blockIdx.x));
  atomicInc((unsigned*)ints + 3, 9u);
  atomicExch(&ints[4], 77);
  atomicSub(&ints[5], 2);
  atomicAdd_system(&ints[6], 1);
  atomicXor(&ints[7], (int)threadIdx.x);
}

__device__ unsigned int finished = 0;
__global__ void last_block(const int* in, int* partial, int* total) {
  __shared__ bool is_last;
  partial[blockIdx.x] = in[blockIdx.x] * 2;
  __threadfence();
  if (threadIdx.x == 0) is_last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += ((volatile int*)partial)[i];
    *total = sum;
    finished = 0;
    __threadfence_system();
  }
}

__global__ void locks(int* mutex, int* shared_value) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    __threadfence();
    *shared_value = *shared_value + 1;
    __threadfence();
    atomicExch(mutex, 0);
  }
  __hip_atomic_fetch_add(shared_value + 1, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
  __threadfence_block();
}
