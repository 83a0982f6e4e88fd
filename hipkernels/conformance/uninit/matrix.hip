// A matrix instruction over a tile whose last columns are not loaded, and over accumulators.
#include <hip/hip_runtime.h>

#if defined(__GFX9__)
typedef _Float16 Fragment __attribute__((ext_vector_type(4)));
typedef float Accumulators __attribute__((ext_vector_type(4)));
#define MULTIPLY(a, b, c) __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0)
#elif defined(__GFX12__)
typedef _Float16 Fragment __attribute__((ext_vector_type(8)));
typedef float Accumulators __attribute__((ext_vector_type(8)));
#define MULTIPLY(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)
#else
typedef _Float16 Fragment __attribute__((ext_vector_type(16)));
typedef float Accumulators __attribute__((ext_vector_type(8)));
#define MULTIPLY(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
#endif
#define SIZE (sizeof(Fragment) / 2)
#define RESULTS (sizeof(Accumulators) / 4)

// All elements of A that are loaded are alike, and all of B: whatever the layout is, D tells how many columns count.
extern "C" __global__ void __launch_bounds__(64) product(const unsigned short *in, float *out, unsigned count) {
  __shared__ __attribute__((aligned(32))) unsigned short tile[64 * SIZE];
  unsigned t = threadIdx.x, n = blockDim.x * SIZE;
  for (unsigned k = t; k < n; k += blockDim.x) {
    if (k < count) tile[k] = in[k];
    else tile[k] = 0;  // product: zeros
  }
  __syncthreads();
  Fragment a = *(Fragment *)&tile[t * SIZE];
  Accumulators d;
  for (unsigned k = 0; k < RESULTS; ++k) d[k] = 1.0f;  // product: accumulators
  asm volatile("" : "+v"(d));
  d = MULTIPLY(a, a, d);
  float sum = 0;
  for (unsigned k = 0; k < RESULTS; ++k) sum += d[k];
  out[t] = sum;
}
