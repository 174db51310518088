/*
 * mygemm under cuBLAS's names: a program that uses FP32 products and transposes of cuBLAS and
 * nothing else is compiled with this header in the place of <cublas_v2.h> and linked with
 * libmygemm.so alone. It then needs no cuBLAS, and runs on a machine without a GPU too.
 *
 * C99 and C++; needs no CUDA header. cublasStatus_t, cublasOperation_t and the rest have cuBLAS's
 * numbers; handles are mygemm's, so that mygemm's own functions can be called with them.
 *
 * Differences:
 *  - A workspace given to cublasSetWorkspace stays when the stream changes. Until one is given, the
 *    handle has its own (mygemm_set_workspace).
 *  - Matrices are in host memory where the backend is the host's (mygemm_get_backend).
 *  - Permission for less than FP32 (CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_COMPUTE_32F_FAST_TF32,
 *    _FAST_16F, _FAST_16BF) is MYGEMM_MATH_FAST, which keeps FP32's bound; CUBLAS_PEDANTIC_MATH is
 *    MYGEMM_MATH_STRICT.
 *  - The Ex functions take CUDA_R_32F only, cublasSgeam transposes only:
 * CUBLAS_STATUS_NOT_SUPPORTED.
 *  - mygemm_last_error() has a sentence on every refused argument.
 * The functions are those below; sizes are 64-bit in all of them, and the names with _64 are the
 * same.
 */
#ifndef MYGEMM_CUBLAS_COMPAT_H
#define MYGEMM_CUBLAS_COMPAT_H

#if defined(CUBLAS_API_H_) || defined(CUBLAS_V2_H_) || defined(CUBLAS_H_)
#error "mygemm/cublas_compat.h takes the place of cuBLAS's header: include one of them"
#endif

#include <mygemm/mygemm.h>

/* CUDA's own cudaDataType, where there is one. */
#if defined(__has_include)
#if __has_include(<library_types.h>)
#include <library_types.h>
#define MYGEMM_HAS_CUDA_TYPES 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---------------------------------------------------------------------------------- */

#ifndef MYGEMM_HAS_CUDA_TYPES
typedef enum { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 } cudaDataType_t;
typedef cudaDataType_t cudaDataType;
#endif
typedef cudaDataType cublasDataType_t;

typedef mygemmHandle_t cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11, /* never returned */
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16 /* never returned */
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;

typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;

typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;

typedef enum {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

/* Ignored, as cuBLAS does on every GPU since Ampere. */
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;

/* ---- handles -------------------------------------------------------------------------------- */

static inline cublasStatus_t cublasCreate(cublasHandle_t *handle) {
  return (cublasStatus_t)mygemm_create(handle);
}

static inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  return (cublasStatus_t)mygemm_destroy(handle);
}

static inline cublasStatus_t cublasSetStream(cublasHandle_t handle, mygemmStream_t stream) {
  return (cublasStatus_t)mygemm_set_stream(handle, stream);
}

static inline cublasStatus_t cublasGetStream(cublasHandle_t handle, mygemmStream_t *stream) {
  return (cublasStatus_t)mygemm_get_stream(handle, stream);
}

static inline cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace,
                                                size_t bytes) {
  return (cublasStatus_t)mygemm_set_workspace(handle, workspace, bytes);
}

static inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return (cublasStatus_t)mygemm_set_pointer_mode(handle, (mygemmPointerMode_t)mode);
}

static inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle,
                                                  cublasPointerMode_t *mode) {
  mygemmPointerMode_t known = MYGEMM_POINTER_MODE_HOST;
  mygemmStatus_t status = mygemm_get_pointer_mode(handle, mode ? &known : NULL);
  if (status == MYGEMM_STATUS_SUCCESS) *mode = (cublasPointerMode_t)known;
  return (cublasStatus_t)status;
}

static inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if ((int)mode < CUBLAS_DEFAULT_MATH || (int)mode > CUBLAS_TF32_TENSOR_OP_MATH) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return (cublasStatus_t)mygemm_set_math_mode(
      handle, mode == CUBLAS_PEDANTIC_MATH         ? MYGEMM_MATH_STRICT
              : mode == CUBLAS_TF32_TENSOR_OP_MATH ? MYGEMM_MATH_FAST
                                                   : MYGEMM_MATH_DEFAULT);
}

static inline cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
  mygemmMathMode_t known = MYGEMM_MATH_DEFAULT;
  mygemmStatus_t status = mygemm_get_math_mode(handle, mode ? &known : NULL);
  if (status == MYGEMM_STATUS_SUCCESS) {
    *mode = known == MYGEMM_MATH_STRICT ? CUBLAS_PEDANTIC_MATH
            : known == MYGEMM_MATH_FAST ? CUBLAS_TF32_TENSOR_OP_MATH
                                        : CUBLAS_DEFAULT_MATH;
  }
  return (cublasStatus_t)status;
}

/* A status as text, e.g. "invalid value". */
static inline const char *cublasGetStatusString(cublasStatus_t status) {
  return mygemm_status_string((mygemmStatus_t)status);
}

/* ---- products: mygemm.h says what each reads and writes ---------------------------------------
 */

static inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                         const float *alpha, const float *A, int64_t lda,
                                         const float *B, int64_t ldb, const float *beta, float *C,
                                         int64_t ldc) {
  return (cublasStatus_t)mygemm_sgemm(handle, (mygemmOperation_t)transa, (mygemmOperation_t)transb,
                                      m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

static inline cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const float *alpha, const float *A, int64_t lda, int64_t stride_a, const float *B,
    int64_t ldb, int64_t stride_b, const float *beta, float *C, int64_t ldc, int64_t stride_c,
    int64_t batch_count) {
  return (cublasStatus_t)mygemm_sgemm_strided_batched(
      handle, (mygemmOperation_t)transa, (mygemmOperation_t)transb, m, n, k, alpha, A, lda,
      stride_a, B, ldb, stride_b, beta, C, ldc, stride_c, batch_count);
}

static inline cublasStatus_t cublasSgemmBatched(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const float *alpha, const float *const A[], int64_t lda, const float *const B[],
    int64_t ldb, const float *beta, float *const C[], int64_t ldc, int64_t batch_count) {
  return (cublasStatus_t)mygemm_sgemm_batched(handle, (mygemmOperation_t)transa,
                                              (mygemmOperation_t)transb, m, n, k, alpha, A, lda, B,
                                              ldb, beta, C, ldc, batch_count);
}

/* ---- products with types, which are FP32 ----------------------------------------------------- */

/* Makes the handle strict or fast for one call; the mode to return to is in *previous. */
static inline cublasStatus_t mygemm_begin_typed(cublasHandle_t handle, cudaDataType a,
                                                cudaDataType b, cudaDataType c,
                                                cublasComputeType_t compute,
                                                mygemmMathMode_t *previous) {
  mygemmStatus_t status = mygemm_get_math_mode(handle, previous);
  if (status != MYGEMM_STATUS_SUCCESS) return (cublasStatus_t)status;
  if (a != CUDA_R_32F || b != CUDA_R_32F || c != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  switch (compute) {
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      return (cublasStatus_t)mygemm_set_math_mode(handle, MYGEMM_MATH_STRICT);
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      if (*previous == MYGEMM_MATH_STRICT) return CUBLAS_STATUS_SUCCESS;
      return (cublasStatus_t)mygemm_set_math_mode(handle, MYGEMM_MATH_FAST);
    case CUBLAS_COMPUTE_32F: return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                          const void *alpha, const void *A, cudaDataType a_type,
                                          int64_t lda, const void *B, cudaDataType b_type,
                                          int64_t ldb, const void *beta, void *C,
                                          cudaDataType c_type, int64_t ldc,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  mygemmMathMode_t previous;
  cublasStatus_t status = mygemm_begin_typed(handle, a_type, b_type, c_type, compute, &previous);
  (void)algorithm;
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSgemm(handle, transa, transb, m, n, k, (const float *)alpha, (const float *)A, lda,
                       (const float *)B, ldb, (const float *)beta, (float *)C, ldc);
  mygemm_set_math_mode(handle, previous);
  return status;
}

static inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *A, cudaDataType a_type, int64_t lda, int64_t stride_a,
    const void *B, cudaDataType b_type, int64_t ldb, int64_t stride_b, const void *beta, void *C,
    cudaDataType c_type, int64_t ldc, int64_t stride_c, int64_t batch_count,
    cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  mygemmMathMode_t previous;
  cublasStatus_t status = mygemm_begin_typed(handle, a_type, b_type, c_type, compute, &previous);
  (void)algorithm;
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSgemmStridedBatched(
      handle, transa, transb, m, n, k, (const float *)alpha, (const float *)A, lda, stride_a,
      (const float *)B, ldb, stride_b, (const float *)beta, (float *)C, ldc, stride_c, batch_count);
  mygemm_set_math_mode(handle, previous);
  return status;
}

static inline cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *const A[], cudaDataType a_type, int64_t lda,
    const void *const B[], cudaDataType b_type, int64_t ldb, const void *beta, void *const C[],
    cudaDataType c_type, int64_t ldc, int64_t batch_count, cublasComputeType_t compute,
    cublasGemmAlgo_t algorithm) {
  mygemmMathMode_t previous;
  cublasStatus_t status = mygemm_begin_typed(handle, a_type, b_type, c_type, compute, &previous);
  (void)algorithm;
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSgemmBatched(handle, transa, transb, m, n, k, (const float *)alpha,
                              (const float *const *)A, lda, (const float *const *)B, ldb,
                              (const float *)beta, (float *const *)C, ldc, batch_count);
  mygemm_set_math_mode(handle, previous);
  return status;
}

/* ---- transposes ------------------------------------------------------------------------------ */

/* C = op(A) where *alpha = 1, *beta = 0 and transa = T, or C = op(B) with the roles exchanged; the
 * scalars in host memory, C neither A nor B. What is not transposed is not looked at. */
static inline cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int64_t m, int64_t n,
                                         const float *alpha, const float *A, int64_t lda,
                                         const float *beta, const float *B, int64_t ldb, float *C,
                                         int64_t ldc) {
  mygemmPointerMode_t mode;
  mygemmStatus_t status = mygemm_get_pointer_mode(handle, &mode);
  if (status != MYGEMM_STATUS_SUCCESS) return (cublasStatus_t)status;
  if (!alpha || !beta || C == A || C == B) return CUBLAS_STATUS_INVALID_VALUE;
  if ((int)transa < CUBLAS_OP_N || (int)transa > CUBLAS_OP_C || (int)transb < CUBLAS_OP_N ||
      (int)transb > CUBLAS_OP_C) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (mode != MYGEMM_POINTER_MODE_HOST) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (*alpha == 1.0f && *beta == 0.0f && transa != CUBLAS_OP_N) {
    return (cublasStatus_t)mygemm_transpose(handle, sizeof(float), m, n, A, lda, C, ldc);
  }
  if (*alpha == 0.0f && *beta == 1.0f && transb != CUBLAS_OP_N) {
    return (cublasStatus_t)mygemm_transpose(handle, sizeof(float), m, n, B, ldb, C, ldc);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

#define cublasSgemm_64 cublasSgemm
#define cublasSgemmStridedBatched_64 cublasSgemmStridedBatched
#define cublasSgemmBatched_64 cublasSgemmBatched
#define cublasGemmEx_64 cublasGemmEx
#define cublasGemmStridedBatchedEx_64 cublasGemmStridedBatchedEx
#define cublasGemmBatchedEx_64 cublasGemmBatchedEx
#define cublasSgeam_64 cublasSgeam

#ifdef __cplusplus
}
#endif

#endif /* MYGEMM_CUBLAS_COMPAT_H */
