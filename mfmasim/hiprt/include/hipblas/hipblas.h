// The matrix products of hipBLAS: the simulated runtime computes them with NumPy on the host. Sums are in double and
// rounded once, and no kernel runs: a program that uses them is checked around them, and they say nothing of rocBLAS.
// Names and numbers: hipblas.h of ROCm 6 and 7.
#pragma once
#include <hip/hip_runtime.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct mfmasim_blas {
  hipStream_t stream;
  int pointers_on_device;
} *hipblasHandle_t;
#if defined(HIPBLAS_USE_HIP_HALF)
#include <hip/hip_fp16.h>
typedef __half hipblasHalf;
#else
typedef unsigned short hipblasHalf;
#endif
typedef int64_t hipblasStride;
typedef hipDataType hipblasDatatype_t;
typedef enum {
  HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_ALLOC_FAILED, HIPBLAS_STATUS_INVALID_VALUE,
  HIPBLAS_STATUS_MAPPING_ERROR, HIPBLAS_STATUS_EXECUTION_FAILED, HIPBLAS_STATUS_INTERNAL_ERROR,
  HIPBLAS_STATUS_NOT_SUPPORTED, HIPBLAS_STATUS_ARCH_MISMATCH, HIPBLAS_STATUS_HANDLE_IS_NULLPTR,
  HIPBLAS_STATUS_INVALID_ENUM, HIPBLAS_STATUS_UNKNOWN
} hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 } hipblasOperation_t;
typedef enum { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE } hipblasPointerMode_t;
typedef enum { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER = 122 } hipblasFillMode_t;
typedef enum { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT = 132 } hipblasDiagType_t;
typedef enum { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT = 142 } hipblasSideMode_t;
typedef enum { HIPBLAS_GEMM_DEFAULT = 160 } hipblasGemmAlgo_t;
typedef enum {
  HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_16F_PEDANTIC, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_32F_PEDANTIC,
  HIPBLAS_COMPUTE_32F_FAST_16F, HIPBLAS_COMPUTE_32F_FAST_16BF, HIPBLAS_COMPUTE_32F_FAST_TF32, HIPBLAS_COMPUTE_64F,
  HIPBLAS_COMPUTE_64F_PEDANTIC, HIPBLAS_COMPUTE_32I, HIPBLAS_COMPUTE_32I_PEDANTIC
} hipblasComputeType_t;
#define HIPBLAS_R_16F HIP_R_16F
#define HIPBLAS_R_16B HIP_R_16BF
#define HIPBLAS_R_32F HIP_R_32F
#define HIPBLAS_R_64F HIP_R_64F
#define HIPBLAS_R_8I HIP_R_8I
#define HIPBLAS_R_32I HIP_R_32I

#define MFMASIM_BLAS static inline hipblasStatus_t
typedef unsigned long long mfmasim_word;
// Words of a call: see mfmasim/hiprt/calls/blas.py.
#ifdef __cplusplus
extern "C" int mfmasimBlas(const mfmasim_word *words, hipStream_t stream);
#else
int mfmasimBlas(const mfmasim_word *words, hipStream_t stream);
#endif

MFMASIM_BLAS hipblasCreate(hipblasHandle_t *handle) {
  *handle = (hipblasHandle_t)calloc(1, sizeof(struct mfmasim_blas));
  return *handle ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_ALLOC_FAILED;
}
MFMASIM_BLAS hipblasDestroy(hipblasHandle_t handle) {
  free(handle);
  return HIPBLAS_STATUS_SUCCESS;
}
MFMASIM_BLAS hipblasSetStream(hipblasHandle_t handle, hipStream_t stream) {
  handle->stream = stream;
  return HIPBLAS_STATUS_SUCCESS;
}
MFMASIM_BLAS hipblasGetStream(hipblasHandle_t handle, hipStream_t *stream) {
  *stream = handle->stream;
  return HIPBLAS_STATUS_SUCCESS;
}
MFMASIM_BLAS hipblasSetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t mode) {
  handle->pointers_on_device = mode;
  return HIPBLAS_STATUS_SUCCESS;
}
MFMASIM_BLAS hipblasGetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t *mode) {
  *mode = (hipblasPointerMode_t)handle->pointers_on_device;
  return HIPBLAS_STATUS_SUCCESS;
}
static inline const char *hipblasStatusToString(hipblasStatus_t status) {
  return status ? "the simulated hipBLAS failed" : "HIPBLAS_STATUS_SUCCESS";
}
MFMASIM_BLAS mfmasim_blas(hipblasHandle_t handle, const mfmasim_word *words) {
  if (!handle) return HIPBLAS_STATUS_HANDLE_IS_NULLPTR;
  int error = mfmasimBlas(words, handle->stream);
  return error == hipErrorNotSupported ? HIPBLAS_STATUS_NOT_SUPPORTED
         : error == hipErrorInvalidValue ? HIPBLAS_STATUS_INVALID_VALUE
         : error ? HIPBLAS_STATUS_EXECUTION_FAILED : HIPBLAS_STATUS_SUCCESS;
}

// mode: 0 one matrix or strided ones, 1 arrays of pointers
static inline hipDataType mfmasim_scalar(hipblasComputeType_t type) {
  return type <= HIPBLAS_COMPUTE_16F_PEDANTIC ? HIP_R_16F
         : type <= HIPBLAS_COMPUTE_32F_FAST_TF32 ? HIP_R_32F
         : type <= HIPBLAS_COMPUTE_64F_PEDANTIC ? HIP_R_64F : HIP_R_32I;
}
#define MFMASIM_W(x) ((mfmasim_word)(x))
#define MFMASIM_GEMM(arrays, type, ta, sa, tb, sb, tc, sc, count)                                                       \
  const mfmasim_word words[] = {MFMASIM_W(arrays), MFMASIM_W(m), MFMASIM_W(n), MFMASIM_W(k), MFMASIM_W(opa),           \
                                MFMASIM_W(opb), MFMASIM_W(count), MFMASIM_W(type), MFMASIM_W(alpha), MFMASIM_W(beta),  \
                                MFMASIM_W(a), MFMASIM_W(ta), MFMASIM_W(lda), MFMASIM_W(sa), MFMASIM_W(b),              \
                                MFMASIM_W(tb), MFMASIM_W(ldb), MFMASIM_W(sb), MFMASIM_W(c), MFMASIM_W(tc),             \
                                MFMASIM_W(ldc), MFMASIM_W(sc)};                                                        \
  return mfmasim_blas(handle, words)
#define MFMASIM_HEAD hipblasHandle_t handle, hipblasOperation_t opa, hipblasOperation_t opb, int m, int n, int k

#define MFMASIM_TYPED(letter, T, type)                                                                                 \
  MFMASIM_BLAS hipblas##letter##gemm(MFMASIM_HEAD, const T *alpha, const T *a, int lda, const T *b, int ldb,           \
                                     const T *beta, T *c, int ldc) {                                                  \
    MFMASIM_GEMM(0, type, type, 0, type, 0, type, 0, 1);                                                               \
  }                                                                                                                    \
  MFMASIM_BLAS hipblas##letter##gemmBatched(MFMASIM_HEAD, const T *alpha, const T *const a[], int lda,                 \
                                            const T *const b[], int ldb, const T *beta, T *const c[], int ldc,        \
                                            int count) {                                                              \
    MFMASIM_GEMM(1, type, type, 0, type, 0, type, 0, count);                                                           \
  }                                                                                                                    \
  MFMASIM_BLAS hipblas##letter##gemmStridedBatched(MFMASIM_HEAD, const T *alpha, const T *a, int lda, long long sa,    \
                                                   const T *b, int ldb, long long sb, const T *beta, T *c, int ldc,   \
                                                   long long sc, int count) {                                         \
    MFMASIM_GEMM(0, type, type, sa, type, sb, type, sc, count);                                                        \
  }
MFMASIM_TYPED(S, float, HIP_R_32F)
MFMASIM_TYPED(D, double, HIP_R_64F)
MFMASIM_TYPED(H, hipblasHalf, HIP_R_16F)

MFMASIM_BLAS hipblasGemmEx(MFMASIM_HEAD, const void *alpha, const void *a, hipDataType ta, int lda, const void *b,
                           hipDataType tb, int ldb, const void *beta, void *c, hipDataType tc, int ldc,
                           hipblasComputeType_t compute, hipblasGemmAlgo_t algorithm) {
  (void)algorithm;
  MFMASIM_GEMM(0, mfmasim_scalar(compute), ta, 0, tb, 0, tc, 0, 1);
}
MFMASIM_BLAS hipblasGemmBatchedEx(MFMASIM_HEAD, const void *alpha, const void *const a[], hipDataType ta, int lda,
                                  const void *const b[], hipDataType tb, int ldb, const void *beta, void *const c[],
                                  hipDataType tc, int ldc, int count, hipblasComputeType_t compute,
                                  hipblasGemmAlgo_t algorithm) {
  (void)algorithm;
  MFMASIM_GEMM(1, mfmasim_scalar(compute), ta, 0, tb, 0, tc, 0, count);
}
MFMASIM_BLAS hipblasGemmStridedBatchedEx(MFMASIM_HEAD, const void *alpha, const void *a, hipDataType ta, int lda,
                                         long long sa, const void *b, hipDataType tb, int ldb, long long sb,
                                         const void *beta, void *c, hipDataType tc, int ldc, long long sc, int count,
                                         hipblasComputeType_t compute, hipblasGemmAlgo_t algorithm) {
  (void)algorithm;
  MFMASIM_GEMM(0, mfmasim_scalar(compute), ta, sa, tb, sb, tc, sc, count);
}
MFMASIM_BLAS hipblasStrsmBatched(hipblasHandle_t handle, hipblasSideMode_t side, hipblasFillMode_t fill,
                                 hipblasOperation_t op, hipblasDiagType_t diagonal, int m, int n, const float *alpha,
                                 const float *const a[], int lda, float *const b[], int ldb, int count) {
  const mfmasim_word words[] = {2, MFMASIM_W(m), MFMASIM_W(n), MFMASIM_W(side), MFMASIM_W(fill), MFMASIM_W(op),
                                MFMASIM_W(diagonal), MFMASIM_W(alpha), MFMASIM_W(a), MFMASIM_W(lda), MFMASIM_W(b),
                                MFMASIM_W(ldb), MFMASIM_W(count)};
  return mfmasim_blas(handle, words);
}
