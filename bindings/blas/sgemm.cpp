// sgemm_ and cblas_sgemm, with the signatures and the behaviour of the reference BLAS.
//
// Matrices are in host memory and sizes are 32-bit. C is written and, unless beta = 0, read; A and
// B are read unless k = 0 or alpha = 0. An illegal argument is reported to xerbla_ or cblas_xerbla,
// and nothing is written.
#include "arguments.h"
#include "calls.h"
#include "host.h"
#include "multiply.h"
#include "xerbla.h"

namespace mygemm::blas {
namespace {

struct Operand {
  const float* data;
  int ld;
};

Product make_product(Transpose transa, Transpose transb, int m, int n, int k, float alpha,
                     const Operand& a, const Operand& b, float beta, float* c, int ldc) {
  return {.transa = transa == Transpose::kYes,
          .transb = transb == Transpose::kYes,
          .m = m,
          .n = n,
          .k = k,
          .alpha = alpha,
          .a = a.data,
          .lda = a.ld,
          .b = b.data,
          .ldb = b.ld,
          .beta = beta,
          .c = c,
          .ldc = ldc};
}

void run(const Product& product, Function function) {
  const bool on_gpu = !product.changes_nothing() && multiply(product);
  if (!inside_host_call()) count_taken(function, on_gpu);
}

void refuse_sgemm(const Refusal& refusal) {
  count_refused(Function::kSgemm);
  call_xerbla("SGEMM ", refusal.position, refusal.why);
}

void refuse_cblas_sgemm(const Refusal& refusal, bool row_major) {
  count_refused(Function::kCblasSgemm);
  call_cblas_xerbla("cblas_sgemm", refusal.position, row_major, refusal.why);
}

}  // namespace
}  // namespace mygemm::blas

using namespace mygemm::blas;

extern "C" {

// The hidden lengths of the two strings are not read.
[[gnu::visibility("default")]] void sgemm_(const char* transa, const char* transb, const int* m,
                                           const int* n, const int* k, const float* alpha,
                                           const float* a, const int* lda, const float* b,
                                           const int* ldb, const float* beta, float* c,
                                           const int* ldc) {
  const Transpose op_a = read_transpose(*transa);
  const Transpose op_b = read_transpose(*transb);
  if (op_a == Transpose::kInvalid) {
    return refuse_sgemm(refuse(1, "transa = '%c' is none of: N, T, C", *transa));
  }
  if (op_b == Transpose::kInvalid) {
    return refuse_sgemm(refuse(2, "transb = '%c' is none of: N, T, C", *transb));
  }
  const Product product =
      make_product(op_a, op_b, *m, *n, *k, *alpha, {a, *lda}, {b, *ldb}, *beta, c, *ldc);
  const Refusal refusal = check(product, kColumnMajorNames);
  if (refusal.position != 0) return refuse_sgemm(refusal);
  run(product, Function::kSgemm);
}

[[gnu::visibility("default")]] void cblas_sgemm(int order, int transa, int transb, int m, int n,
                                                int k, float alpha, const float* a, int lda,
                                                const float* b, int ldb, float beta, float* c,
                                                int ldc) {
  const bool row_major = order == kCblasRowMajor;
  const Transpose op_a = read_transpose(transa);
  const Transpose op_b = read_transpose(transb);
  if (!row_major && order != kCblasColumnMajor) {
    return refuse_cblas_sgemm(refuse(1, "order = %d is neither 101 nor 102", order), false);
  }
  if (op_a == Transpose::kInvalid) {
    return refuse_cblas_sgemm(refuse(2, "transa = %d is none of: 111, 112, 113", transa), false);
  }
  if (op_b == Transpose::kInvalid) {
    return refuse_cblas_sgemm(refuse(3, "transb = %d is none of: 111, 112, 113", transb), false);
  }
  // Row-major matrices are column-major ones transposed: C^T = op(B)^T op(A)^T.
  const Product product =
      row_major ? make_product(op_b, op_a, n, m, k, alpha, {b, ldb}, {a, lda}, beta, c, ldc)
                : make_product(op_a, op_b, m, n, k, alpha, {a, lda}, {b, ldb}, beta, c, ldc);
  Refusal refusal = check(product, row_major ? kRowMajorNames : kColumnMajorNames);
  if (refusal.position != 0) {
    ++refusal.position;  // `order` comes before sgemm_'s arguments
    return refuse_cblas_sgemm(refusal, row_major);
  }
  run(product, Function::kCblasSgemm);
}

}  // extern "C"
