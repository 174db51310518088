// cuBLAS's products, under cuBLAS's names. The 64-bit functions are the same with wider sizes.
#include "take_or_forward.h"

namespace mygemm::cublas {
namespace {

GemmCall product(cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
                 int64_t k, const void* alpha, const Operand& a, const Operand& b, const void* beta,
                 const Operand& c, Batch batch, int64_t batch_count,
                 cublasComputeType_t compute = CUBLAS_COMPUTE_32F,
                 cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT) {
  return {transa, transb, m, n, k, alpha, a, b, beta, c, batch, batch_count, compute, algorithm};
}

// Descriptions of the arguments after the handle, one for each order of them.
constexpr auto one = [](auto transa, auto transb, auto m, auto n, auto k, auto alpha, auto a,
                        auto lda, auto b, auto ldb, auto beta, auto c, auto ldc) {
  return product(transa, transb, m, n, k, alpha, {a, lda}, {b, ldb}, beta, {c, ldc}, Batch::kNone,
                 1);
};

constexpr auto batch_of_pointers = [](auto transa, auto transb, auto m, auto n, auto k, auto alpha,
                                      auto a, auto lda, auto b, auto ldb, auto beta, auto c,
                                      auto ldc, auto batch_count) {
  return product(transa, transb, m, n, k, alpha, {a, lda}, {b, ldb}, beta, {c, ldc},
                 Batch::kPointers, batch_count);
};

constexpr auto batch_at_strides = [](auto transa, auto transb, auto m, auto n, auto k, auto alpha,
                                     auto a, auto lda, auto stride_a, auto b, auto ldb,
                                     auto stride_b, auto beta, auto c, auto ldc, auto stride_c,
                                     auto batch_count) {
  return product(transa, transb, m, n, k, alpha, {a, lda, stride_a}, {b, ldb, stride_b}, beta,
                 {c, ldc, stride_c}, Batch::kStrided, batch_count);
};

constexpr auto typed_one = [](auto transa, auto transb, auto m, auto n, auto k, auto alpha, auto a,
                              auto a_type, auto lda, auto b, auto b_type, auto ldb, auto beta,
                              auto c, auto c_type, auto ldc, auto compute, auto algorithm) {
  return product(transa, transb, m, n, k, alpha, {a, lda, 0, a_type}, {b, ldb, 0, b_type}, beta,
                 {c, ldc, 0, c_type}, Batch::kNone, 1, compute, algorithm);
};

constexpr auto typed_pointers = [](auto transa, auto transb, auto m, auto n, auto k, auto alpha,
                                   auto a, auto a_type, auto lda, auto b, auto b_type, auto ldb,
                                   auto beta, auto c, auto c_type, auto ldc, auto batch_count,
                                   auto compute, auto algorithm) {
  return product(transa, transb, m, n, k, alpha, {a, lda, 0, a_type}, {b, ldb, 0, b_type}, beta,
                 {c, ldc, 0, c_type}, Batch::kPointers, batch_count, compute, algorithm);
};

constexpr auto typed_strides = [](auto transa, auto transb, auto m, auto n, auto k, auto alpha,
                                  auto a, auto a_type, auto lda, auto stride_a, auto b, auto b_type,
                                  auto ldb, auto stride_b, auto beta, auto c, auto c_type, auto ldc,
                                  auto stride_c, auto batch_count, auto compute, auto algorithm) {
  return product(transa, transb, m, n, k, alpha, {a, lda, stride_a, a_type},
                 {b, ldb, stride_b, b_type}, beta, {c, ldc, stride_c, c_type}, Batch::kStrided,
                 batch_count, compute, algorithm);
};

}  // namespace
}  // namespace mygemm::cublas

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* A, int lda, const float* B, int ldb, const float* beta,
                              float* C, int ldc) {
  return take_or_forward(kSgemm, one, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta,
                         C, ldc);
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* A, int64_t lda, const float* B,
                                 int64_t ldb, const float* beta, float* C, int64_t ldc) {
  return take_or_forward(kSgemm64, one, handle, transa, transb, m, n, k, alpha, A, lda, B, ldb,
                         beta, C, ldc);
}

cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k, const float* alpha,
                                  const float* const A[], int lda, const float* const B[], int ldb,
                                  const float* beta, float* const C[], int ldc, int batch_count) {
  return take_or_forward(kSgemmBatched, batch_of_pointers, handle, transa, transb, m, n, k, alpha,
                         A, lda, B, ldb, beta, C, ldc, batch_count);
}

cublasStatus_t cublasSgemmBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                     cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                     const float* alpha, const float* const A[], int64_t lda,
                                     const float* const B[], int64_t ldb, const float* beta,
                                     float* const C[], int64_t ldc, int64_t batch_count) {
  return take_or_forward(kSgemmBatched64, batch_of_pointers, handle, transa, transb, m, n, k, alpha,
                         A, lda, B, ldb, beta, C, ldc, batch_count);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* A, int lda,
                                         long long stride_a, const float* B, int ldb,
                                         long long stride_b, const float* beta, float* C, int ldc,
                                         long long stride_c, int batch_count) {
  return take_or_forward(kSgemmStridedBatched, batch_at_strides, handle, transa, transb, m, n, k,
                         alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,
                         batch_count);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* A,
                                            int64_t lda, long long stride_a, const float* B,
                                            int64_t ldb, long long stride_b, const float* beta,
                                            float* C, int64_t ldc, long long stride_c,
                                            int64_t batch_count) {
  return take_or_forward(kSgemmStridedBatched64, batch_at_strides, handle, transa, transb, m, n, k,
                         alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,
                         batch_count);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType a_type, int lda, const void* B,
                            cudaDataType b_type, int ldb, const void* beta, void* C,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return take_or_forward(kGemmEx, typed_one, handle, transa, transb, m, n, k, alpha, A, a_type, lda,
                         B, b_type, ldb, beta, C, c_type, ldc, compute, algorithm);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* A, cudaDataType a_type, int64_t lda,
                               const void* B, cudaDataType b_type, int64_t ldb, const void* beta,
                               void* C, cudaDataType c_type, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return take_or_forward(kGemmEx64, typed_one, handle, transa, transb, m, n, k, alpha, A, a_type,
                         lda, B, b_type, ldb, beta, C, c_type, ldc, compute, algorithm);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                   const void* const A[], cudaDataType a_type, int lda,
                                   const void* const B[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const C[], cudaDataType c_type, int ldc,
                                   int batch_count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
  return take_or_forward(kGemmBatchedEx, typed_pointers, handle, transa, transb, m, n, k, alpha, A,
                         a_type, lda, B, b_type, ldb, beta, C, c_type, ldc, batch_count, compute,
                         algorithm);
}

cublasStatus_t cublasGemmBatchedEx_64(cublasHandle_t handle, cublasOperation_t transa,
                                      cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                      const void* alpha, const void* const A[], cudaDataType a_type,
                                      int64_t lda, const void* const B[], cudaDataType b_type,
                                      int64_t ldb, const void* beta, void* const C[],
                                      cudaDataType c_type, int64_t ldc, int64_t batch_count,
                                      cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return take_or_forward(kGemmBatchedEx64, typed_pointers, handle, transa, transb, m, n, k, alpha,
                         A, a_type, lda, B, b_type, ldb, beta, C, c_type, ldc, batch_count, compute,
                         algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType a_type,
                                          int lda, long long stride_a, const void* B,
                                          cudaDataType b_type, int ldb, long long stride_b,
                                          const void* beta, void* C, cudaDataType c_type, int ldc,
                                          long long stride_c, int batch_count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return take_or_forward(kGemmStridedBatchedEx, typed_strides, handle, transa, transb, m, n, k,
                         alpha, A, a_type, lda, stride_a, B, b_type, ldb, stride_b, beta, C, c_type,
                         ldc, stride_c, batch_count, compute, algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* A, cudaDataType a_type, int64_t lda,
    long long stride_a, const void* B, cudaDataType b_type, int64_t ldb, long long stride_b,
    const void* beta, void* C, cudaDataType c_type, int64_t ldc, long long stride_c,
    int64_t batch_count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return take_or_forward(kGemmStridedBatchedEx64, typed_strides, handle, transa, transb, m, n, k,
                         alpha, A, a_type, lda, stride_a, B, b_type, ldb, stride_b, beta, C, c_type,
                         ldc, stride_c, batch_count, compute, algorithm);
}

#pragma GCC visibility pop
}  // extern "C"
