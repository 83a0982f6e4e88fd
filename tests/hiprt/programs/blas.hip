// Products by the header of hipBLAS, compared with loops: types, transposes, strides, arrays of pointers, a system.
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>

#include <cstdio>
#include <cstring>
#include <vector>

__global__ void twice(float *values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}

constexpr int M = 5, N = 7, K = 9, LA = 11, LB = 12, LC = 6, COUNT = 3;

template <class T> T *device(const std::vector<T> &host) {
  T *made;
  (void)hipMalloc(&made, host.size() * sizeof(T));
  (void)hipMemcpy(made, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice);
  return made;
}
template <class T> std::vector<T> numbers(int count, unsigned seed) {
  std::vector<T> made(count);
  for (auto &one : made) one = T(float(int((seed = seed * 1103515245 + 12345) >> 16) % 5 - 2));
  return made;
}

// 0: right. ta, tb: whether A and B are stored transposed.
template <class T, class D, class S> int product(hipblasHandle_t handle, hipDataType type, hipDataType out,
                                                 hipblasComputeType_t compute, bool ta, bool tb, int mode) {
  const int wide_a = ta ? M : K, wide_b = tb ? K : N;
  const hipblasStride sa = LA * wide_a, sb = LB * wide_b, sc = LC * N;
  const auto a = numbers<T>(sa * COUNT, 1), b = numbers<T>(sb * COUNT, 2);
  auto c = numbers<D>(sc * COUNT, 3);
  T *on_a = device(a), *on_b = device(b);
  D *on_c = device(c);
  const S alpha = S(2.0f), beta = S(-1.0f);
  const auto op_a = ta ? HIPBLAS_OP_T : HIPBLAS_OP_N, op_b = tb ? HIPBLAS_OP_T : HIPBLAS_OP_N;
  const int count = mode ? COUNT : 1;
  hipblasStatus_t status;
  if (mode == 2) {
    std::vector<const void *> as, bs;
    std::vector<void *> cs;
    for (int i = 0; i < count; ++i) as.push_back(on_a + i * sa), bs.push_back(on_b + i * sb), cs.push_back(on_c + i * sc);
    status = hipblasGemmBatchedEx(handle, op_a, op_b, M, N, K, &alpha, device(as), type, LA, device(bs), type, LB, &beta,
                                  device(cs), out, LC, count, compute, HIPBLAS_GEMM_DEFAULT);
  } else if (mode == 1) {
    status = hipblasGemmStridedBatchedEx(handle, op_a, op_b, M, N, K, &alpha, on_a, type, LA, sa, on_b, type, LB, sb,
                                         &beta, on_c, out, LC, sc, count, compute, HIPBLAS_GEMM_DEFAULT);
  } else {
    status = hipblasGemmEx(handle, op_a, op_b, M, N, K, &alpha, on_a, type, LA, on_b, type, LB, &beta, on_c, out, LC,
                           compute, HIPBLAS_GEMM_DEFAULT);
  }
  std::vector<D> got(c.size());
  (void)hipMemcpy(got.data(), on_c, got.size() * sizeof(D), hipMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i)
    for (int n = 0; n < N; ++n)
      for (int m = 0; m < M; ++m) {
        float sum = 0;
        for (int k = 0; k < K; ++k)
          sum += float(a[i * sa + (ta ? k + m * LA : m + k * LA)]) * float(b[i * sb + (tb ? n + k * LB : k + n * LB)]);
        D &one = c[i * sc + m + n * LC];
        one = D(2 * sum - float(one));
      }
  return status != HIPBLAS_STATUS_SUCCESS || memcmp(got.data(), c.data(), c.size() * sizeof(D)) != 0;
}

int main() {
  hipblasHandle_t handle;
  hipStream_t stream;
  (void)hipStreamCreate(&stream);
  if (hipblasCreate(&handle)) return 3;
  int wrong = 0, tried = 0;
  for (int bits = 0; bits < 12; ++bits) {
    const bool ta = bits & 1, tb = bits & 2;
    const int mode = bits >> 2;
    wrong += product<float, float, float>(handle, HIP_R_32F, HIP_R_32F, HIPBLAS_COMPUTE_32F, ta, tb, mode);
    wrong += product<__half, float, float>(handle, HIP_R_16F, HIP_R_32F, HIPBLAS_COMPUTE_32F, ta, tb, mode);
    wrong += product<__half, __half, __half>(handle, HIP_R_16F, HIP_R_16F, HIPBLAS_COMPUTE_16F, ta, tb, mode);
    wrong += product<hip_bfloat16, hip_bfloat16, float>(handle, HIP_R_16BF, HIP_R_16BF, HIPBLAS_COMPUTE_32F, ta, tb, mode);
    wrong += product<double, double, double>(handle, HIP_R_64F, HIP_R_64F, HIPBLAS_COMPUTE_64F, ta, tb, mode);
    wrong += product<signed char, int, int>(handle, HIP_R_8I, HIP_R_32I, HIPBLAS_COMPUTE_32I, ta, tb, mode);
    tried += 6;
  }
  // Work of a stream: after the kernel on it, before the copy on it.
  const std::vector<float> eye = {1, 0, 0, 1}, lower = {2, 1, 9, 4}, right = {4, 10};
  float *a = device(eye), *b = device(lower), *c = device(eye), one = 1, zero = 0, host[4];
  (void)hipDeviceSynchronize();
  (void)hipblasSetStream(handle, stream);
  twice<<<1, 4, 0, stream>>>(a, 4);
  wrong += hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) != 0;
  (void)hipMemcpyAsync(host, c, sizeof host, hipMemcpyDeviceToHost, stream);
  (void)hipStreamSynchronize(stream);
  printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]);
  // 2 x = 4, x + 4 y = 10
  float *sides = device(right);
  float **as = device(std::vector<float *>{b}), **bs = device(std::vector<float *>{sides});
  wrong += hipblasStrsmBatched(handle, HIPBLAS_SIDE_LEFT, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_OP_N, HIPBLAS_DIAG_NON_UNIT, 2, 1,
                               &one, as, 2, bs, 2, 1) != 0;
  (void)hipMemcpyAsync(host, sides, 8, hipMemcpyDeviceToHost, stream);
  (void)hipStreamSynchronize(stream);
  printf("%g %g\n", host[0], host[1]);
  // The same from the right: X A = B with A upper triangular.
  float *upper = device(std::vector<float>{2, 0, 1, 4}), *row = device(right);
  float **us = device(std::vector<float *>{upper}), **rs = device(std::vector<float *>{row});
  wrong += hipblasStrsmBatched(handle, HIPBLAS_SIDE_RIGHT, HIPBLAS_FILL_MODE_UPPER, HIPBLAS_OP_N, HIPBLAS_DIAG_NON_UNIT, 1, 2,
                               &one, us, 2, rs, 1, 1) != 0;
  (void)hipMemcpyAsync(host, row, 8, hipMemcpyDeviceToHost, stream);
  (void)hipStreamSynchronize(stream);
  printf("%g %g\n", host[0], host[1]);
  // Past its memory, and a type that is not served.
  printf("%d ", hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 4096, 2, &one, a, 2, b, 2, &zero, c, 2));
  printf("%d\n", hipblasGemmEx(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 2, 2, &one, a, HIP_C_32F, 2, b, HIP_C_32F, 2, &zero, c,
                               HIP_C_32F, 2, HIPBLAS_COMPUTE_32F, HIPBLAS_GEMM_DEFAULT));
  printf("%d products, %d wrong\n", tried, wrong);
  return hipblasDestroy(handle) || wrong;
}
