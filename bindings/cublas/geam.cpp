// cublasSgeam under cuBLAS's name: a transpose is taken, other sums are forwarded.
#include "take_or_forward.h"

namespace mygemm::cublas {
namespace {

constexpr auto sum = [](auto transa, auto transb, auto m, auto n, auto alpha, auto a, auto lda,
                        auto beta, auto b, auto ldb, auto c, auto ldc) {
  return GeamCall{transa, transb, m, n, alpha, a, lda, beta, b, ldb, c, ldc};
};

}  // namespace
}  // namespace mygemm::cublas

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const float* alpha,
                           const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc) {
  return take_or_forward(kSgeam, sum, handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C,
                         ldc);
}

cublasStatus_t cublasSgeam_64(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int64_t m, int64_t n, const float* alpha,
                              const float* A, int64_t lda, const float* beta, const float* B,
                              int64_t ldb, float* C, int64_t ldc) {
  return take_or_forward(kSgeam64, sum, handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb,
                         C, ldc);
}

#pragma GCC visibility pop
}  // extern "C"
