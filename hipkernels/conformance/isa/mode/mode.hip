// Hardware registers: clocks, and the MODE register's rounding and denormals.
#include <hip/hip_runtime.h>

__device__ static unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Clocks do not run backwards.
extern "C" __global__ void clocks(const unsigned *in, unsigned *out) {
  unsigned i = global_index(), x = in[i];
  long long cycles = clock64(), time = wall_clock64();
  for (int k = 0; k < 20; ++k) x = x * 1664525 + 1013904223;
  asm volatile("" : "+v"(x));
  out[i] = (clock64() >= cycles) + (wall_clock64() >= time) + (x & 0xfffffff0);
}

// What a kernel starts with: rounding to nearest, denormals kept; then bits written and read back.
extern "C" __global__ void mode_register(unsigned *out) {
  constexpr int rounding = 1 | 0 << 6 | 3 << 11, denormals = 1 | 4 << 6 | 3 << 11, both = 1 | 0 << 6 | 7 << 11;
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  unsigned first = __builtin_amdgcn_s_getreg(both);
  __builtin_amdgcn_s_setreg(rounding, blockIdx.x + 1);
  __builtin_amdgcn_s_setreg(denormals, 5);
  unsigned second = __builtin_amdgcn_s_getreg(both);
  __builtin_amdgcn_s_setreg(both, 0xf0);
  out[i] = first;
  out[n + i] = second;
}

#define IN_MODE(first, count, value, operation)                                              \
  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " #first ", " #count "), " #value "\n\ts_nop 3\n\t" \
  operation "\n\ts_nop 3\n\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\n\ts_nop 1"

// One operation in the four rounding modes: to nearest, up, down, toward zero.
#define FOUR(out, stride, operation, ...)                                          \
  asm volatile(IN_MODE(0, 4, 0, operation) : "=&v"(out[i]) : __VA_ARGS__);         \
  asm volatile(IN_MODE(0, 4, 5, operation) : "=&v"(out[stride + i]) : __VA_ARGS__); \
  asm volatile(IN_MODE(0, 4, 10, operation) : "=&v"(out[2 * stride + i]) : __VA_ARGS__); \
  asm volatile(IN_MODE(0, 4, 15, operation) : "=&v"(out[3 * stride + i]) : __VA_ARGS__)

extern "C" __global__ void rounding_f32(const float *x, const float *y, const float *z, float *sum, float *product,
                                        float *fused) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  FOUR(sum, n, "v_add_f32 %0, %1, %2", "v"(x[i]), "v"(y[i]));
  FOUR(product, n, "v_mul_f32 %0, %1, %2", "v"(x[i]), "v"(y[i]));
  FOUR(fused, n, "v_fma_f32 %0, %1, %2, %3", "v"(x[i]), "v"(y[i]), "v"(z[i]));
}

extern "C" __global__ void rounding_f64(const double *x, const double *y, const double *z, double *sum, double *fused,
                                        float *narrow) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
  FOUR(sum, n, "v_add_f64 %0, %1, %2", "v"(x[i]), "v"(y[i]));
  FOUR(fused, n, "v_fma_f64 %0, %1, %2, %3", "v"(x[i]), "v"(y[i]), "v"(z[i]));
  FOUR(narrow, n, "v_cvt_f32_f64 %0, %1", "v"(x[i]));
}

// Denormals flushed at the input, at the output, at both, at neither.
extern "C" __global__ void denormals_f32(const float *x, const float *y, float *sum, float *product) {
  unsigned i = global_index(), n = gridDim.x * blockDim.x;
#define FLUSH(out, operation)                                                                      \
  asm volatile(IN_MODE(4, 2, 0, operation) : "=&v"(out[i]) : "v"(x[i]), "v"(y[i]));                 \
  asm volatile(IN_MODE(4, 2, 1, operation) : "=&v"(out[n + i]) : "v"(x[i]), "v"(y[i]));             \
  asm volatile(IN_MODE(4, 2, 2, operation) : "=&v"(out[2 * n + i]) : "v"(x[i]), "v"(y[i]));         \
  asm volatile(IN_MODE(4, 2, 3, operation) : "=&v"(out[3 * n + i]) : "v"(x[i]), "v"(y[i]))
  FLUSH(sum, "v_add_f32 %0, %1, %2");
  FLUSH(product, "v_mul_f32 %0, %1, %2");
}
