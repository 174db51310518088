// Tests of the drop-in BLAS: which argument is reported, to whom, and that nothing is written.
#include <vector>

#include <gtest/gtest.h>

#include "blas.h"

namespace mygemm_tests {
namespace {

constexpr size_t kFloats = 64;

// The arguments of a legal 4 x 3 x 2 product, to be broken one at a time.
struct Sgemm {
  int order = kColumnMajor, cblas_transa = 111, cblas_transb = 111;
  char transa = 'N', transb = 'N';
  int m = 4, n = 3, k = 2, lda = 4, ldb = 2, ldc = 4;
  std::vector<float> memory = std::vector<float>(kFloats, 1.0f);
  std::vector<float> result = std::vector<float>(kFloats, 1.0f);
  const float* a = memory.data();
  const float* b = memory.data();
  float* c = result.data();

  Report fortran() {
    const float one = 1;
    sgemm_(&transa, &transb, &m, &n, &k, &one, a, &lda, b, &ldb, &one, c, &ldc);
    EXPECT_EQ(result, std::vector<float>(kFloats, 1.0f));
    return take_report();
  }
  Report cblas() {
    cblas_sgemm(order, cblas_transa, cblas_transb, m, n, k, 1, a, lda, b, ldb, 1, c, ldc);
    EXPECT_EQ(result, std::vector<float>(kFloats, 1.0f));
    return take_report();
  }
};

// A product with one member set.
template <class Value>
Sgemm with(Value Sgemm::*member, Value value) {
  Sgemm call;
  call.*member = value;
  return call;
}

Sgemm row_major_with(int Sgemm::*member, int value) {
  Sgemm call;
  call.order = kRowMajor;
  call.lda = 2;
  call.ldb = call.ldc = 3;
  call.*member = value;
  return call;
}

TEST(BlasRefusals, OfSgemmHaveTheReferencePositions) {
  EXPECT_EQ(with(&Sgemm::transa, 'X').fortran().position, 1);
  EXPECT_EQ(with(&Sgemm::transb, '\0').fortran().position, 2);
  EXPECT_EQ(with(&Sgemm::m, -1).fortran().position, 3);
  EXPECT_EQ(with(&Sgemm::n, -1).fortran().position, 4);
  EXPECT_EQ(with(&Sgemm::k, -1).fortran().position, 5);
  EXPECT_EQ(with(&Sgemm::lda, 3).fortran().position, 8);
  EXPECT_EQ(with(&Sgemm::ldb, 1).fortran().position, 10);
  EXPECT_EQ(with(&Sgemm::ldc, 3).fortran().position, 13);
  EXPECT_EQ(with(&Sgemm::ldc, 3).fortran().routine, "SGEMM ");
}

TEST(BlasRefusals, OfCblasSgemmCountTheOrder) {
  EXPECT_EQ(with(&Sgemm::order, 0).cblas().position, 1);
  EXPECT_EQ(with(&Sgemm::cblas_transa, 110).cblas().position, 2);
  EXPECT_EQ(with(&Sgemm::cblas_transb, 114).cblas().position, 3);
  EXPECT_EQ(with(&Sgemm::m, -1).cblas().position, 4);
  EXPECT_EQ(with(&Sgemm::n, -1).cblas().position, 5);
  EXPECT_EQ(with(&Sgemm::k, -1).cblas().position, 6);
  EXPECT_EQ(with(&Sgemm::lda, 3).cblas().position, 9);
  EXPECT_EQ(with(&Sgemm::ldb, 1).cblas().position, 11);
  EXPECT_EQ(with(&Sgemm::ldc, 3).cblas().position, 14);
  EXPECT_EQ(with(&Sgemm::ldc, 3).cblas().routine, "cblas_sgemm");
}

TEST(BlasRefusals, OfRowMajorProductsNameTheCallersArguments) {
  EXPECT_EQ(row_major_with(&Sgemm::m, -1).cblas().position, 4);
  EXPECT_EQ(row_major_with(&Sgemm::n, -1).cblas().position, 5);
  EXPECT_EQ(row_major_with(&Sgemm::k, -1).cblas().position, 6);
  EXPECT_EQ(row_major_with(&Sgemm::lda, 1).cblas().position, 9);
  EXPECT_EQ(row_major_with(&Sgemm::ldb, 2).cblas().position, 11);
  EXPECT_EQ(row_major_with(&Sgemm::ldc, 2).cblas().position, 14);
  EXPECT_EQ(row_major_with(&Sgemm::lda, 1).cblas().text, "lda = 1 is smaller than max(1, k) = 2\n");
  EXPECT_EQ(row_major_with(&Sgemm::ldb, 2).cblas().text, "ldb = 2 is smaller than max(1, n) = 3\n");
}

TEST(BlasRefusals, OfTransposedOperandsKnowTheirRows) {
  Sgemm a_is_k_by_m = with(&Sgemm::transa, 'T');
  a_is_k_by_m.lda = 1;
  EXPECT_EQ(a_is_k_by_m.fortran().position, 8);
  Sgemm b_is_n_by_k = with(&Sgemm::transb, 'c');
  EXPECT_EQ(b_is_n_by_k.fortran().position, 10);
}

TEST(BlasRefusals, OfNullMatrices) {
  EXPECT_EQ(with<const float*>(&Sgemm::a, nullptr).fortran().position, 7);
  EXPECT_EQ(with<const float*>(&Sgemm::b, nullptr).fortran().position, 9);
  EXPECT_EQ(with<float*>(&Sgemm::c, nullptr).fortran().position, 12);
  Sgemm row_major = row_major_with(&Sgemm::m, 4);
  row_major.a = nullptr;
  EXPECT_EQ(row_major.cblas().position, 8);
  row_major.a = row_major.b;
  row_major.b = nullptr;
  EXPECT_EQ(row_major.cblas().position, 10);
}

struct MatrixCopy {
  int order = kColumnMajor, trans = 111, rows = 4, cols = 3, lda = 4, ldb = 4;
  std::vector<float> memory = std::vector<float>(kFloats, 1.0f);
  std::vector<float> result = std::vector<float>(kFloats, 1.0f);

  int out_of_place() {
    cblas_somatcopy(order, trans, rows, cols, 2, memory.data(), lda, result.data(), ldb);
    EXPECT_EQ(result, std::vector<float>(kFloats, 1.0f));
    return take_report().position;
  }
  int in_place() {
    cblas_simatcopy(order, trans, rows, cols, 2, result.data(), lda, ldb);
    EXPECT_EQ(result, std::vector<float>(kFloats, 1.0f));
    return take_report().position;
  }
};

TEST(BlasRefusals, OfMatrixCopies) {
  EXPECT_EQ((MatrixCopy{.order = 103}).out_of_place(), 1);
  EXPECT_EQ((MatrixCopy{.trans = 115}).out_of_place(), 2);
  EXPECT_EQ((MatrixCopy{.rows = -1}).out_of_place(), 3);
  EXPECT_EQ((MatrixCopy{.cols = -1}).out_of_place(), 4);
  EXPECT_EQ((MatrixCopy{.lda = 3}).out_of_place(), 7);
  EXPECT_EQ((MatrixCopy{.ldb = 3}).out_of_place(), 9);
  EXPECT_EQ((MatrixCopy{.ldb = 3}).in_place(), 8);
  EXPECT_EQ((MatrixCopy{.trans = 112, .ldb = 2}).out_of_place(), 9);
  EXPECT_EQ((MatrixCopy{.order = kRowMajor, .rows = -1}).out_of_place(), 3);
  EXPECT_EQ((MatrixCopy{.order = kRowMajor, .lda = 2}).out_of_place(), 7);
  EXPECT_EQ((MatrixCopy{.order = kRowMajor, .trans = 112, .ldb = 3}).out_of_place(), 9);
}

TEST(BlasRefusals, OfTheFortranAndMklFormsGoToXerbla) {
  const int rows = 2;
  const int ld = 1;
  const float one = 1;
  float value[4] = {};
  somatcopy_("C", "N", &rows, &rows, &one, value, &ld, value, &ld);
  EXPECT_EQ(take_report().routine, "SOMATCOPY");
  simatcopy_("C", "Q", &rows, &rows, &one, value, &ld, &ld);
  const Report report = take_report();
  EXPECT_EQ(report.routine, "SIMATCOPY");
  EXPECT_EQ(report.position, 2);
  MKL_Simatcopy('R', 'T', 2, 2, 1, value, 1, 2);
  EXPECT_EQ(take_report().position, 7);
}

}  // namespace
}  // namespace mygemm_tests
