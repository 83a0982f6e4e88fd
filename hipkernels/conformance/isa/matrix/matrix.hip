// Matrix instructions beyond the introductory ones: accumulation registers, blocks, sparsity, WMMA. One wave each.
#include <hip/hip_runtime.h>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
typedef short i16x4 __attribute__((ext_vector_type(4)));
typedef short i16x8 __attribute__((ext_vector_type(8)));
typedef short i16x16 __attribute__((ext_vector_type(16)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef double f64x4 __attribute__((ext_vector_type(4)));

#if defined(__GFX9__)
// D = A B + C over K in steps of 8, with C and D in accumulation registers. A is 32 x K, B is K x 32, row-major.
extern "C" __global__ void __launch_bounds__(64) accumulate_agpr(const _Float16 *A, const _Float16 *B, float *C, int K) {
  unsigned line = threadIdx.x % 32, group = threadIdx.x / 32;
  f32x16 c;
  for (unsigned r = 0; r < 16; ++r) c[r] = C[32 * (8 * (r / 4) + 4 * group + r % 4) + line];
  for (int k = 4 * group; k < K; k += 8) {
    f16x4 a = *(const f16x4 *)(A + K * line + k), b;
    for (unsigned i = 0; i < 4; ++i) b[i] = B[32 * (k + i) + line];
    asm volatile("s_nop 1\n\tv_mfma_f32_32x32x8_f16 %0, %1, %2, %0\n\ts_nop 15\n\ts_nop 3" : "+a"(c) : "v"(a), "v"(b));
  }
  for (unsigned r = 0; r < 16; ++r) C[32 * (8 * (r / 4) + 4 * group + r % 4) + line] = c[r];
}

// Accumulation registers as the destination of a load, as the source of a store, and moved among themselves.
extern "C" __global__ void accumulation_registers(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[64];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, loaded, moved, value, last;
  asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=a"(loaded) : "v"(in + i));
  asm volatile("v_accvgpr_mov_b32 %0, %1\n\ts_nop 1" : "=a"(moved) : "a"(loaded));
  asm volatile("v_accvgpr_read_b32 %0, %1" : "=v"(value) : "a"(moved));
  asm volatile("v_accvgpr_write_b32 %0, %1\n\ts_nop 1" : "=a"(last) : "v"(value * 3));
  auto place = (__attribute__((address_space(3))) unsigned *)&tile[t];
  asm volatile("ds_write_b32 %0, %1\n\ts_waitcnt lgkmcnt(0)" : : "v"(place), "a"(last) : "memory");
  asm volatile("global_store_dword %0, %1, off" : : "v"(out + i), "a"(moved) : "memory");
  out[gridDim.x * blockDim.x + i] = tile[t];
}

// Bytes with signs: A is 16 x 32 row-major, B 32 x 16 column-major.
extern "C" __global__ void __launch_bounds__(64) mfma_bytes(const long *A, const long *B, int *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  i32x4 c;
  for (unsigned r = 0; r < 4; ++r) c[r] = C[16 * (4 * group + r) + line];
  c = __builtin_amdgcn_mfma_i32_16x16x32_i8(A[4 * line + group], B[4 * line + group], c, 0, 0, 0);
  for (unsigned r = 0; r < 4; ++r) C[16 * (4 * group + r) + line] = c[r];
}

// bf16: A is 32 x 8 row-major, B 8 x 32 column-major.
extern "C" __global__ void __launch_bounds__(64) mfma_brains(const i16x4 *A, const i16x4 *B, float *C) {
  unsigned line = threadIdx.x % 32, group = threadIdx.x / 32;
  f32x16 c = {};
  c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(A[2 * line + group], B[2 * line + group], c, 0, 0, 0);
  for (unsigned r = 0; r < 16; ++r) C[32 * (8 * (r / 4) + 4 * group + r % 4) + line] = c[r];
}

// Doubles, K in steps of 4: A is 16 x K row-major, B K x 16.
extern "C" __global__ void __launch_bounds__(64) mfma_doubles(const double *A, const double *B, double *C, int K) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  f64x4 c = {};
  for (int k = group; k < K; k += 4)
    c = __builtin_amdgcn_mfma_f64_16x16x4f64(A[K * line + k], B[16 * k + line], c, 0, 0, 0);
  for (unsigned r = 0; r < 4; ++r) C[16 * (4 * r + group) + line] = c[r];
}

// Sixteen products of 4 x 1 and 1 x 4; then with A of the second of each four blocks for all four (cbsz 2, abid 1).
extern "C" __global__ void __launch_bounds__(64) mfma_blocks(const float *A, const float *B, float *C) {
  unsigned t = threadIdx.x, block = t / 4, column = t % 4;
  f32x4 c = {};
  c = __builtin_amdgcn_mfma_f32_4x4x1f32(A[t], B[t], c, 0, 0, 0);
  f32x4 d = __builtin_amdgcn_mfma_f32_4x4x1f32(A[t], B[t], c, 2, 1, 0);
  for (unsigned r = 0; r < 4; ++r) {
    C[16 * block + 4 * r + column] = c[r];
    C[256 + 16 * block + 4 * r + column] = d[r];
  }
}

// Sparse A, two of four: values is 16 x 16 row-major, each with a place (0 to 3) in its four; B is 32 x 16 column-major.
extern "C" __global__ void __launch_bounds__(64) mfma_sparse(const f16x4 *values, const unsigned char *places,
                                                             const f16x8 *B, float *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  int index = 0;
  for (unsigned s = 0; s < 4; ++s) index |= places[16 * line + 4 * group + s] << 2 * s;
  f32x4 c = {1, 1, 1, 1};
  c = __builtin_amdgcn_smfmac_f32_16x16x32_f16(values[4 * line + group], B[4 * line + group], c, index, 0, 0);
  for (unsigned r = 0; r < 4; ++r) C[16 * (4 * group + r) + line] = c[r];
}

#if defined(__gfx950__)
// Twice the K of CDNA3: A is 16 x 32 (64 for bytes) row-major, B 32 x 16 (64 x 16) column-major.
extern "C" __global__ void __launch_bounds__(64) mfma_wide(const f16x8 *A, const f16x8 *B, float *C, const i32x4 *bytesA,
                                                           const i32x4 *bytesB, int *bytesC) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  f32x4 c = {};
  i32x4 d = {};
  c = __builtin_amdgcn_mfma_f32_16x16x32_f16(A[4 * line + group], B[4 * line + group], c, 0, 0, 0);
  d = __builtin_amdgcn_mfma_i32_16x16x64_i8(bytesA[4 * line + group], bytesB[4 * line + group], d, 0, 0, 0);
  for (unsigned r = 0; r < 4; ++r) {
    C[16 * (4 * group + r) + line] = c[r];
    bytesC[16 * (4 * group + r) + line] = d[r];
  }
}

// 6-bit floats (e2m3) with a scale for 32 of them: A is 16 x 128 row-major, B 128 x 16 column-major, bits without gaps;
// scales 16 x 4 and 4 x 16 in the same order.
extern "C" __global__ void __launch_bounds__(64) mfma_six_bits(const unsigned *A, const unsigned *B,
                                                               const unsigned char *scaleA, const unsigned char *scaleB,
                                                               float *C) {
  unsigned line = threadIdx.x % 16, group = threadIdx.x / 16;
  i32x8 a = {}, b = {};
  for (unsigned w = 0; w < 6; ++w) {
    a[w] = A[24 * line + 6 * group + w];
    b[w] = B[24 * line + 6 * group + w];
  }
  f32x4 c = {};
  constexpr int e2m3 = 2;
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, e2m3, e2m3, 0, scaleA[4 * line + group], 0,
                                                       scaleB[4 * line + group]);
  for (unsigned r = 0; r < 4; ++r) C[16 * (4 * group + r) + line] = c[r];
}
#endif

#elif !defined(__GFX10__)  // RDNA: wave32
// A lane's part of a line of A or B, and the rows of C that it holds. RDNA3 keeps whole lines, in both halves of a wave.
#if defined(__GFX12__)
constexpr unsigned part = 2;
__device__ static unsigned row_of(unsigned r) { return r + 8 * (threadIdx.x / 16); }
#define WMMA(name) __builtin_amdgcn_wmma_##name##_w32_gfx12
#else
constexpr unsigned part = 1;
__device__ static unsigned row_of(unsigned r) { return 2 * r + threadIdx.x / 16; }
#define WMMA(name) __builtin_amdgcn_wmma_##name##_w32
#endif
__device__ static unsigned line_part() { return part * (threadIdx.x % 16) + (part == 2 ? threadIdx.x / 16 : 0); }
template <typename T>
__device__ static T load(const void *from) { return ((const T *)from)[line_part()]; }
template <typename T, typename V>
__device__ static void store(T *C, V c) {
  for (unsigned r = 0; r < 8; ++r) C[16 * row_of(r) + threadIdx.x % 16] = c[r];
}
template <typename V, typename T>
__device__ static V load_c(const T *C) {
  V c;
  for (unsigned r = 0; r < 8; ++r) c[r] = C[16 * row_of(r) + threadIdx.x % 16];
  return c;
}

// Halves and bf16: A is 16 x 16 row-major, B 16 x 16 column-major.
extern "C" __global__ void __launch_bounds__(32) wmma_halves(const _Float16 *A, const _Float16 *B, float *C) {
#if defined(__GFX12__)
  store(C, WMMA(f32_16x16x16_f16)(load<f16x8>(A), load<f16x8>(B), load_c<f32x8>(C)));
#else
  store(C, WMMA(f32_16x16x16_f16)(load<f16x16>(A), load<f16x16>(B), load_c<f32x8>(C)));
#endif
}
extern "C" __global__ void __launch_bounds__(32) wmma_brains(const short *A, const short *B, float *C) {
#if defined(__GFX12__)
  store(C, WMMA(f32_16x16x16_bf16)(load<i16x8>(A), load<i16x8>(B), load_c<f32x8>(C)));
#else
  store(C, WMMA(f32_16x16x16_bf16)(load<i16x16>(A), load<i16x16>(B), load_c<f32x8>(C)));
#endif
}

// Bytes, A with signs and B without; nibbles the other way round.
extern "C" __global__ void __launch_bounds__(32) wmma_bytes(const int *A, const int *B, int *C) {
#if defined(__GFX12__)
  store(C, WMMA(i32_16x16x16_iu8)(true, load<i32x2>(A), false, load<i32x2>(B), load_c<i32x8>(C), false));
#else
  store(C, WMMA(i32_16x16x16_iu8)(true, load<i32x4>(A), false, load<i32x4>(B), load_c<i32x8>(C), false));
#endif
}
extern "C" __global__ void __launch_bounds__(32) wmma_nibbles(const int *A, const int *B, int *C) {
#if defined(__GFX12__)
  store(C, WMMA(i32_16x16x16_iu4)(false, load<int>(A), true, load<int>(B), load_c<i32x8>(C), true));
#else
  store(C, WMMA(i32_16x16x16_iu4)(false, load<i32x2>(A), true, load<i32x2>(B), load_c<i32x8>(C), true));
#endif
}

#if defined(__GFX12__)
// FP8 with BF8: A is 16 x 16 row-major, B 16 x 16 column-major.
extern "C" __global__ void __launch_bounds__(32) wmma_fp8(const int *A, const int *B, float *C) {
  store(C, WMMA(f32_16x16x16_fp8_bf8)(load<i32x2>(A), load<i32x2>(B), load_c<f32x8>(C)));
}

// Sparse A, two of four: values is 16 x 16 row-major, each with a place (0 to 3) in its four; B is 32 x 16 column-major.
extern "C" __global__ void __launch_bounds__(32) wmma_sparse(const _Float16 *values, const unsigned char *places,
                                                             const _Float16 *B, float *C) {
  unsigned line = threadIdx.x % 16, half = threadIdx.x / 16;
  short index = 0;
  for (unsigned s = 0; s < 8; ++s) index |= places[16 * line + 8 * half + s] << 2 * s;
  store(C, __builtin_amdgcn_swmmac_f32_16x16x32_f16_w32(load<f16x8>(values), load<f16x16>(B), load_c<f32x8>(C), index));
}
#endif
#endif
