// Dot products of bytes, nibbles and halves, and two floats at once.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

#if defined(__GFX9__) || defined(__GFX10__)
#define SIGNED4(a, b, c, clamp) __builtin_amdgcn_sdot4(a, b, c, clamp)
#define SIGNED8(a, b, c, clamp) __builtin_amdgcn_sdot8(a, b, c, clamp)
#else
#define SIGNED4(a, b, c, clamp) __builtin_amdgcn_sudot4(true, a, true, b, c, clamp)
#define SIGNED8(a, b, c, clamp) __builtin_amdgcn_sudot8(true, a, true, b, c, clamp)
#endif

// Four bytes or eight nibbles with each other, wrapped or saturated.
extern "C" __global__ void dot_integers(const int *x, const int *y, const int *z, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  int a = x[i], b = y[i], c = z[i];
  out[i] = SIGNED4(a, b, c, false);
  out[n + i] = SIGNED4(a, b, c, true);
  out[2 * n + i] = SIGNED8(a, b, c, false);
  out[3 * n + i] = SIGNED8(a, b, c, true);
  out[4 * n + i] = __builtin_amdgcn_udot4(a, b, c, false);
  out[5 * n + i] = __builtin_amdgcn_udot4(a, b, c, true);
  out[6 * n + i] = __builtin_amdgcn_udot8(a, b, c, false);
  out[7 * n + i] = __builtin_amdgcn_udot8(a, b, c, true);
}

#if defined(__GFX9__) || defined(__GFX10__)
// Two 16-bit integers with each other, which RDNA3 gave up.
extern "C" __global__ void dot_short(const int *x, const int *y, const int *z, int *out) {
  typedef short s2 __attribute__((ext_vector_type(2)));
  typedef unsigned short u2 __attribute__((ext_vector_type(2)));
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  s2 a = __builtin_bit_cast(s2, x[i]), b = __builtin_bit_cast(s2, y[i]);
  u2 c = __builtin_bit_cast(u2, x[i]), d = __builtin_bit_cast(u2, y[i]);
  out[i] = __builtin_amdgcn_sdot2(a, b, z[i], false);
  out[n + i] = __builtin_amdgcn_sdot2(a, b, z[i], true);
  out[2 * n + i] = __builtin_amdgcn_udot2(c, d, z[i], false);
  out[3 * n + i] = __builtin_amdgcn_udot2(c, d, z[i], true);
}
#endif

#if defined(__GFX9__)
// Pairs of floats: one instruction for both, with halves exchanged and signs changed on the way.
typedef float float2_ __attribute__((ext_vector_type(2)));
extern "C" __global__ void packed_f32(const float2_ *x, const float2_ *y, const float2_ *z, float2_ *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  float2_ a = x[i], b = y[i], c = z[i];
  out[i] = a + b;
  out[n + i] = a * b;
  out[2 * n + i] = __builtin_elementwise_fma(a, b, c);
  out[3 * n + i] = a.yx - b;
  out[4 * n + i] = __builtin_elementwise_fma(a.xx, -b.yx, c);
}
#elif !defined(__GFX10__)
// Bytes and nibbles where one side has a sign and the other has none.
extern "C" __global__ void dot_mixed(const int *x, const int *y, const int *z, int *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  out[i] = __builtin_amdgcn_sudot4(true, x[i], false, y[i], z[i], false);
  out[n + i] = __builtin_amdgcn_sudot4(false, x[i], true, y[i], z[i], true);
  out[2 * n + i] = __builtin_amdgcn_sudot8(true, x[i], false, y[i], z[i], true);
  out[3 * n + i] = __builtin_amdgcn_sudot8(false, x[i], false, y[i], z[i], false);
}
#endif

// Two halves with each other, added to a float.
typedef _Float16 half2_ __attribute__((ext_vector_type(2)));
extern "C" __global__ void dot_halves(const half2_ *x, const half2_ *y, const float *z, float *out) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  float sum = __builtin_amdgcn_fdot2(x[i], y[i], z[i], false);
  out[i] = sum;
  out[n + i] = __builtin_amdgcn_fdot2(x[i], y[n - 1 - i], sum, false);
}
