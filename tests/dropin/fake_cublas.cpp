// See fake_cublas.h. FAKE_MAJOR is the major version that it claims to be of.
#include "fake_cublas.h"

// The settings that the drop-in reads.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
};

namespace {

std::string last_call;
std::string last_call_taken;
cublasStatus_t answer = CUBLAS_STATUS_SUCCESS;

template <class... Arguments>
cublasStatus_t write_down(const char* function, Arguments... arguments) {
  last_call = fake_cublas::said(function, arguments...);
  return answer;
}

template <class T>
cublasStatus_t get(cublasHandle_t handle, T cublasContext::*setting, T* value) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  *value = handle->*setting;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(cublasHandle_t handle, T cublasContext::*setting, T value) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->*setting = value;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

const char* fake_cublas_last_call() {
  last_call_taken.swap(last_call);
  last_call.clear();
  return last_call_taken.c_str();
}

cublasStatus_t fake_cublas_record(const char* call) {
  last_call = call;
  return answer;
}

void fake_cublas_answer(cublasStatus_t status) { answer = status; }

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION ? FAKE_MAJOR : 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return set(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return get(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return set(handle, &cublasContext::pointer_mode, mode);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get(handle, &cublasContext::pointer_mode, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return get(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int target) {
  return set(handle, &cublasContext::sm_count_target, target);
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* target) {
  return get(handle, &cublasContext::sm_count_target, target);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* A, int lda, const float* B, int ldb, const float* beta,
                              float* C, int ldc) {
  return write_down("cublasSgemm_v2", handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta,
                    C, ldc);
}
cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* A, int64_t lda, const float* B,
                                 int64_t ldb, const float* beta, float* C, int64_t ldc) {
  return write_down("cublasSgemm_v2_64", handle, transa, transb, m, n, k, alpha, A, lda, B, ldb,
                    beta, C, ldc);
}
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                  const float* const A[], int lda, const float* const B[], int ldb,
                                  const float* beta, float* const C[], int ldc, int batch_count) {
  return write_down("cublasSgemmBatched", handle, transa, transb, m, n, k, alpha, A, lda, B, ldb,
                    beta, C, ldc, batch_count);
}
cublasStatus_t cublasSgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const float* alpha, const float* const A[], int64_t lda,
                                     const float* const B[], int64_t ldb, const float* beta,
                                     float* const C[], int64_t ldc, int64_t batch_count) {
  return write_down("cublasSgemmBatched_64", handle, transa, transb, m, n, k, alpha, A, lda, B, ldb,
                    beta, C, ldc, batch_count);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* A, int lda,
                                         long long stride_a, const float* B, int ldb,
                                         long long stride_b, const float* beta, float* C, int ldc,
                                         long long stride_c, int batch_count) {
  return write_down("cublasSgemmStridedBatched", handle, transa, transb, m, n, k, alpha, A, lda,
                    stride_a, B, ldb, stride_b, beta, C, ldc, stride_c, batch_count);
}
cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* A,
                                            int64_t lda, long long stride_a, const float* B,
                                            int64_t ldb, long long stride_b, const float* beta,
                                            float* C, int64_t ldc, long long stride_c,
                                            int64_t batch_count) {
  return write_down("cublasSgemmStridedBatched_64", handle, transa, transb, m, n, k, alpha, A, lda,
                    stride_a, B, ldb, stride_b, beta, C, ldc, stride_c, batch_count);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType a_type, int lda, const void* B,
                            cudaDataType b_type, int ldb, const void* beta, void* C,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return write_down("cublasGemmEx", handle, transa, transb, m, n, k, alpha, A, a_type, lda, B,
                    b_type, ldb, beta, C, c_type, ldc, compute, algorithm);
}
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* A, cudaDataType a_type, int64_t lda,
                               const void* B, cudaDataType b_type, int64_t ldb, const void* beta,
                               void* C, cudaDataType c_type, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return write_down("cublasGemmEx_64", handle, transa, transb, m, n, k, alpha, A, a_type, lda, B,
                    b_type, ldb, beta, C, c_type, ldc, compute, algorithm);
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                   const void* const A[], cudaDataType a_type, int lda,
                                   const void* const B[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const C[], cudaDataType c_type, int ldc,
                                   int batch_count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
  return write_down("cublasGemmBatchedEx", handle, transa, transb, m, n, k, alpha, A, a_type, lda,
                    B, b_type, ldb, beta, C, c_type, ldc, batch_count, compute, algorithm);
}
cublasStatus_t cublasGemmBatchedEx_64(cublasHandle_t handle, cublasOperation_t transa,
                                      cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                      const void* alpha, const void* const A[], cudaDataType a_type,
                                      int64_t lda, const void* const B[], cudaDataType b_type,
                                      int64_t ldb, const void* beta, void* const C[],
                                      cudaDataType c_type, int64_t ldc, int64_t batch_count,
                                      cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return write_down("cublasGemmBatchedEx_64", handle, transa, transb, m, n, k, alpha, A, a_type,
                    lda, B, b_type, ldb, beta, C, c_type, ldc, batch_count, compute, algorithm);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType a_type,
                                          int lda, long long stride_a, const void* B,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* C, cudaDataType c_type, int ldc,
                                          long long stride_c, int batch_count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return write_down("cublasGemmStridedBatchedEx", handle, transa, transb, m, n, k, alpha, A, a_type,
                    lda, stride_a, B, b_type, ldb, stride_b, beta, C, c_type, ldc, stride_c,
                    batch_count, compute, algorithm);
}
cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* A, cudaDataType a_type, int64_t lda,
    long long stride_a, const void* B, cudaDataType b_type, int64_t ldb, long long stride_b,
    const void* beta, void* C, cudaDataType c_type, int64_t ldc, long long stride_c,
    int64_t batch_count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return write_down("cublasGemmStridedBatchedEx_64", handle, transa, transb, m, n, k, alpha, A,
                    a_type, lda, stride_a, B, b_type, ldb, stride_b, beta, C, c_type, ldc, stride_c,
                    batch_count, compute, algorithm);
}
cublasStatus_t cublasSgemmGroupedBatched(cublasHandle_t handle, const cublasOperation_t transa[],
                                         const cublasOperation_t transb[], const int m[],
                                         const int n[], const int k[], const float alpha[],
                                         const float* const A[], const int lda[],
                                         const float* const B[], const int ldb[],
                                         const float beta[], float* const C[], const int ldc[],
                                         int group_count, const int group_size[]) {
  return write_down("cublasSgemmGroupedBatched", handle, transa, transb, m, n, k, alpha, A, lda, B,
                    ldb, beta, C, ldc, group_count, group_size);
}
cublasStatus_t cublasSgemmGroupedBatched_64(cublasHandle_t handle, const cublasOperation_t transa[],
                                            const cublasOperation_t transb[], const int64_t m[],
                                            const int64_t n[], const int64_t k[],
                                            const float alpha[], const float* const A[],
                                            const int64_t lda[], const float* const B[],
                                            const int64_t ldb[], const float beta[],
                                            float* const C[], const int64_t ldc[],
                                            int64_t group_count, const int64_t group_size[]) {
  return write_down("cublasSgemmGroupedBatched_64", handle, transa, transb, m, n, k, alpha, A, lda,
                    B, ldb, beta, C, ldc, group_count, group_size);
}
cublasStatus_t cublasSsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const float* alpha, const float* A, int lda,
                              const float* beta, float* C, int ldc) {
  return write_down("cublasSsyrk_v2", handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}
cublasStatus_t cublasSsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k, const float* alpha,
                                 const float* A, int64_t lda, const float* beta, float* C,
                                 int64_t ldc) {
  return write_down("cublasSsyrk_v2_64", handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}
cublasStatus_t cublasSsyrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                            int n, int k, const float* alpha, const float* A, int lda,
                            const float* B, int ldb, const float* beta, float* C, int ldc) {
  return write_down("cublasSsyrkx", handle, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
cublasStatus_t cublasSsyrkx_64(cublasHandle_t handle, cublasFillMode_t uplo,
                               cublasOperation_t trans, int64_t n, int64_t k, const float* alpha,
                               const float* A, int64_t lda, const float* B, int64_t ldb,
                               const float* beta, float* C, int64_t ldc) {
  return write_down("cublasSsyrkx_64", handle, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C,
                    ldc);
}
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const float* alpha,
                           const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc) {
  return write_down("cublasSgeam", handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C,
                    ldc);
}
cublasStatus_t cublasSgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, const float* alpha,
                              const float* A, int64_t lda, const float* beta, const float* B,
                              int64_t ldb, float* C, int64_t ldc) {
  return write_down("cublasSgeam_64", handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C,
                    ldc);
}

}  // extern "C"
