// cublasSsyrk and cublasSsyrkx under cuBLAS's names: triangles of products.
#include "handle_session.h"
#include "report.h"
#include "take_or_forward.h"

namespace mygemm::cublas {
namespace {

// Descriptions of the arguments after the handle.
constexpr auto symmetric = [](auto uplo, auto trans, auto n, auto k, auto alpha, auto a, auto lda,
                              auto beta, auto c, auto ldc) {
  return SyrkCall{uplo, trans, n, k, alpha, a, lda, a, lda, beta, c, ldc};
};

constexpr auto of_two = [](auto uplo, auto trans, auto n, auto k, auto alpha, auto a, auto lda,
                           auto b, auto ldb, auto beta, auto c, auto ldc) {
  return SyrkCall{uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc};
};

mygemmGemm_t product(const SyrkCall& call) {
  const bool transposed = call.trans != CUBLAS_OP_N;
  mygemmGemm_t gemm = MYGEMM_GEMM_INIT;
  gemm.transa = transposed ? MYGEMM_OP_T : MYGEMM_OP_N;
  gemm.transb = transposed ? MYGEMM_OP_N : MYGEMM_OP_T;
  gemm.m = gemm.n = call.n;
  gemm.k = call.k;
  gemm.alpha = call.alpha, gemm.beta = call.beta;
  gemm.A = call.a, gemm.lda = call.lda;
  gemm.B = call.b, gemm.ldb = call.ldb;
  gemm.D = call.c, gemm.ldd = call.ldc;
  gemm.fill = call.uplo == CUBLAS_FILL_MODE_LOWER ? MYGEMM_FILL_LOWER : MYGEMM_FILL_UPPER;
  return gemm;
}

// Calls that cuBLAS is to refuse, or that have nothing to do.
bool has_work(const SyrkCall& call) {
  const bool triangle = call.uplo == CUBLAS_FILL_MODE_LOWER || call.uplo == CUBLAS_FILL_MODE_UPPER;
  const bool operation =
      call.trans == CUBLAS_OP_N || call.trans == CUBLAS_OP_T || call.trans == CUBLAS_OP_C;
  return triangle && operation && call.n > 0;
}

bool has_null(const SyrkCall& call) {
  return !call.alpha || !call.beta || !call.a || !call.b || !call.c;
}

// cuBLAS takes 0.6 to 0.9 of mygemm's time then (H200, k = 16, n of 128 to 1024).
bool is_short(const SyrkCall& call) {
  constexpr int64_t kFewProducts = 32, kFewRows = 1024;
  return call.k > 0 && call.k <= kFewProducts && call.n <= kFewRows;
}

double flop_of(const SyrkCall& call) {
  const auto n = static_cast<double>(call.n);
  return n * (n + 1) * static_cast<double>(call.k);
}

}  // namespace

std::optional<cublasStatus_t> take(Function function, cublasHandle_t handle, const SyrkCall& call) {
  Session session;
  HandleSettings of;
  const double flop = flop_of(call);
  Outcome outcome = !has_work(call) ? kLeftToCublas : is_short(call) ? kShortTriangle : kTaken;
  if (outcome == kTaken) outcome = open(handle, CUBLAS_COMPUTE_32F, &session, &of);
  if (outcome != kTaken) {
    count(function, outcome, flop);
    return std::nullopt;
  }
  set_up(session, of.settings, CUBLAS_COMPUTE_32F);
  const mygemmGemm_t gemm = product(call);
  const auto wanted = [&] {
    size_t bytes = 0;
    mygemm_gemm_workspace_size(session.handle, &gemm, &bytes);
    return bytes;
  };
  const mygemmStatus_t status =
      in_workspace(session, of, wanted, [&] { return mygemm_gemm(session.handle, &gemm); });
  return has_null(call) ? settle_with_null(function, kTaken, status, flop)
                        : settle(function, kTaken, status, flop);
}

}  // namespace mygemm::cublas

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasSsyrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                              int n, int k, const float* alpha, const float* A, int lda,
                              const float* beta, float* C, int ldc) {
  return take_or_forward(kSsyrk, symmetric, handle, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
}

cublasStatus_t cublasSsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k, const float* alpha,
                                 const float* A, int64_t lda, const float* beta, float* C,
                                 int64_t ldc) {
  return take_or_forward(kSsyrk64, symmetric, handle, uplo, trans, n, k, alpha, A, lda, beta, C,
                         ldc);
}

cublasStatus_t cublasSsyrkx(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,
                            int n, int k, const float* alpha, const float* A, int lda,
                            const float* B, int ldb, const float* beta, float* C, int ldc) {
  return take_or_forward(kSsyrkx, of_two, handle, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C,
                         ldc);
}

cublasStatus_t cublasSsyrkx_64(cublasHandle_t handle, cublasFillMode_t uplo,
                               cublasOperation_t trans, int64_t n, int64_t k, const float* alpha,
                               const float* A, int64_t lda, const float* B, int64_t ldb,
                               const float* beta, float* C, int64_t ldc) {
  return take_or_forward(kSsyrkx64, of_two, handle, uplo, trans, n, k, alpha, A, lda, B, ldb, beta,
                         C, ldc);
}

#pragma GCC visibility pop
}  // extern "C"
