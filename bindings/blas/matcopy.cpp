// somatcopy and simatcopy, B = alpha * op(A) out of place and in place, with the signatures of
// OpenBLAS (Fortran's and CBLAS's) and of oneMKL.
//
// A is rows x cols in the caller's order, with lda; B, with ldb, is of that shape (N, R) or of the
// transposed one (T, C). A is read unless alpha = 0; only elements of B's layout are written, no
// gaps. The copies are memory-bound and run on the host. Illegal arguments are reported to xerbla_
// or cblas_xerbla, and nothing is written.
#include <cstddef>
#include <cstdint>

#include "arguments.h"
#include "calls.h"
#include "host.h"
#include "xerbla.h"

namespace mygemm::blas {
namespace {

// The arguments of a call through any of the interfaces.
struct Call {
  Function function;
  const char* routine;  // the name for XERBLA
  bool cblas;           // report to cblas_xerbla
  bool in_place;
};

enum class Order { kColumnMajor, kRowMajor, kInvalid };

Order read_order(char letter) {
  if (letter == 'C' || letter == 'c') return Order::kColumnMajor;
  return letter == 'R' || letter == 'r' ? Order::kRowMajor : Order::kInvalid;
}

Order read_order(int number) {
  if (number == kCblasColumnMajor) return Order::kColumnMajor;
  return number == kCblasRowMajor ? Order::kRowMajor : Order::kInvalid;
}

// Unlike sgemm, copies know R and 114: conjugate without transposing.
Transpose read_copy_transpose(char letter) {
  return letter == 'R' || letter == 'r' ? Transpose::kNo : read_transpose(letter);
}

Transpose read_copy_transpose(int number) {
  return number == kCblasConjugate ? Transpose::kNo : read_transpose(number);
}

void report(const Call& call, const Refusal& refusal) {
  count_refused(call.function);
  if (call.cblas) return call_cblas_xerbla(call.routine, refusal.position, false, refusal.why);
  call_xerbla(call.routine, refusal.position, refusal.why);
}

struct Source {
  int64_t rows, cols;  // as the caller has them
  const float* a;
  int64_t lda;
};

template <class Letter>
void run(const Call& call, Letter order, Letter transpose, const Source& source, float alpha,
         float* b, int64_t ldb) {
  const Order read = read_order(order);
  const Transpose op = read_copy_transpose(transpose);
  if (read == Order::kInvalid) {
    return report(call, refuse(1, "the order %d is neither column-major nor row-major", order));
  }
  if (op == Transpose::kInvalid) {
    return report(call, refuse(2, "the operation %d is none of: N, T, C, R", transpose));
  }
  const bool row_major = read == Order::kRowMajor;
  const MatrixCopy copy{.transpose = op == Transpose::kYes,
                        .rows = row_major ? source.cols : source.rows,
                        .cols = row_major ? source.rows : source.cols,
                        .alpha = alpha,
                        .a = source.a,
                        .lda = source.lda,
                        .b = b,
                        .ldb = ldb};
  const Refusal refusal = check(copy, row_major, call.in_place ? 8 : 9);
  if (refusal.position != 0) return report(call, refusal);
  if (copy.rows > 0 && copy.cols > 0) copy_matrix(copy);
  count_taken(call.function, false);
}

// oneMKL's sizes are unsigned; one beyond int64_t's range is a negative one.
int64_t signed_size(size_t size) { return static_cast<int64_t>(size); }

}  // namespace
}  // namespace mygemm::blas

using namespace mygemm::blas;

extern "C" {

[[gnu::visibility("default")]] void somatcopy_(const char* order, const char* trans,
                                               const int* rows, const int* cols, const float* alpha,
                                               const float* a, const int* lda, float* b,
                                               const int* ldb) {
  run({Function::kSomatcopy, "SOMATCOPY", false, false}, *order, *trans, {*rows, *cols, a, *lda},
      *alpha, b, *ldb);
}

[[gnu::visibility("default")]] void simatcopy_(const char* order, const char* trans,
                                               const int* rows, const int* cols, const float* alpha,
                                               float* a, const int* lda, const int* ldb) {
  run({Function::kSimatcopy, "SIMATCOPY", false, true}, *order, *trans, {*rows, *cols, a, *lda},
      *alpha, a, *ldb);
}

[[gnu::visibility("default")]] void cblas_somatcopy(int order, int trans, int rows, int cols,
                                                    float alpha, const float* a, int lda, float* b,
                                                    int ldb) {
  run({Function::kCblasSomatcopy, "cblas_somatcopy", true, false}, order, trans,
      {rows, cols, a, lda}, alpha, b, ldb);
}

[[gnu::visibility("default")]] void cblas_simatcopy(int order, int trans, int rows, int cols,
                                                    float alpha, float* a, int lda, int ldb) {
  run({Function::kCblasSimatcopy, "cblas_simatcopy", true, true}, order, trans,
      {rows, cols, a, lda}, alpha, a, ldb);
}

[[gnu::visibility("default")]] void MKL_Somatcopy(char order, char trans, size_t rows, size_t cols,
                                                  float alpha, const float* a, size_t lda, float* b,
                                                  size_t ldb) {
  run({Function::kMklSomatcopy, "MKL_Somatcopy", false, false}, order, trans,
      {signed_size(rows), signed_size(cols), a, signed_size(lda)}, alpha, b, signed_size(ldb));
}

[[gnu::visibility("default")]] void MKL_Simatcopy(char order, char trans, size_t rows, size_t cols,
                                                  float alpha, float* a, size_t lda, size_t ldb) {
  run({Function::kMklSimatcopy, "MKL_Simatcopy", false, true}, order, trans,
      {signed_size(rows), signed_size(cols), a, signed_size(lda)}, alpha, a, signed_size(ldb));
}

}  // extern "C"
