// cublasSgeam under cuBLAS's name: a transpose is taken, other sums are forwarded.
#include "real_cublas.h"
#include "take.h"

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const float* alpha,
                           const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc) {
  const auto status =
      take(kSgeam, handle, GeamCall{transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc});
  return status
             ? *status
             : forward(kSgeam, handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc);
}

cublasStatus_t cublasSgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, const float* alpha,
                              const float* A, int64_t lda, const float* beta, const float* B,
                              int64_t ldb, float* C, int64_t ldc) {
  const auto status =
      take(kSgeam64, handle, GeamCall{transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc});
  return status
             ? *status
             : forward(kSgeam64, handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc);
}

#pragma GCC visibility pop
}  // extern "C"
