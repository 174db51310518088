// Ops tests of matrices with one column (products) or one row (softmax, transposes), whose leading
// dimension places nothing: with any that is legal, every kernel of the backend computes the same
// and no address overflows (the emulated kernels run under the undefined-behaviour sanitizer).
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_case.h"
#include "gemm_epilogue_case.h"
#include "softmax_case.h"
#include "support/handle.h"
#include "transpose_case.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{36} << 20;  // enough for every kernel
constexpr int64_t kLds[] = {int64_t{1} << 62, INT64_MAX - 3, INT64_MAX};
constexpr mygemmOperation_t kOperations[] = {MYGEMM_OP_N, MYGEMM_OP_T};

// Runs `cases` with a kernel forced; run_one(handle, case, &tally) runs one of them.
template <class Case>
void run_forced(Family family, const std::string& kernel, const std::vector<Case>& cases,
                void (*run_one)(mygemmHandle_t, const Case&, RowTally*)) {
  Handle handle(family, kernel, kWorkspace);
  RowTally tally(kernel);
  for (const Case& one : cases) {
    run_one(handle, one, &tally);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
  tally.finish();
}

class GemmVectors : public RowTest {};
class GemmVectorsWithEpilogue : public RowTest {};
class SoftmaxVectors : public RowTest {};
class TransposeVectors : public RowTest {};

struct Shape {
  int64_t m, n, k;
};
// One column in C and B, in A and in B as stored transposed, in A and B of outer products; where
// several lines of tiles or splits of k lie beyond it.
constexpr Shape kShapes[] = {{70, 1, 33}, {1, 130, 33}, {70, 130, 1}, {1, 1, 1}, {33, 1, 1030}};

template <class Case>
std::vector<Case> products() {
  std::vector<Case> cases;
  for (const Shape& shape : kShapes) {
    for (const mygemmOperation_t transa : kOperations) {
      for (const mygemmOperation_t transb : kOperations) {
        Case gemm{};
        gemm.m = shape.m;
        gemm.n = shape.n;
        gemm.k = shape.k;
        gemm.transa = transa;
        gemm.transb = transb;
        gemm.vector_ld = kLds[cases.size() % 3];
        gemm.padding = cases.size() % 2 == 0 ? 0 : 3;
        cases.push_back(gemm);
      }
    }
  }
  // In batches, with pointers of any alignment.
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    Case batch = cases.front();
    batch.form = form;
    batch.batch = 3;
    cases.push_back(batch);
  }
  return cases;
}

TEST_P(GemmVectors, LeadingDimensionsOfAnySize) {
  run_forced(Family::kGemm, GetParam(), products<GemmCase>(), run_gemm);
}

TEST_P(GemmVectorsWithEpilogue, LeadingDimensionsOfAnySize) {
  std::vector<EpilogueCase> cases = products<EpilogueCase>();
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].own_c = i % 4 < 2;
    cases[i].activation = i % 3 == 0 ? MYGEMM_ACTIVATION_RELU : MYGEMM_ACTIVATION_NONE;
  }
  run_forced(Family::kGemm, GetParam(), cases, run_epilogue);
}

TEST_P(SoftmaxVectors, LeadingDimensionsOfAnySize) {
  std::vector<SoftmaxCase> cases;
  for (const int64_t cols : {1, 45, 1024, 33001, 66016}) {
    for (const bool backward : {false, true}) {
      for (const InPlace in_place : {InPlace::kNo, InPlace::kFirst}) {
        SoftmaxCase softmax;
        softmax.cols = cols;
        softmax.backward = backward;
        softmax.in_place = in_place;
        softmax.vector_ld = kLds[cases.size() % 3];
        if (cols == 45) softmax.in = softmax.out = MYGEMM_R_16F;
        cases.push_back(softmax);
      }
    }
  }
  run_forced(Family::kSoftmax, GetParam(), cases, run_softmax);
}

TEST_P(TransposeVectors, LeadingDimensionsOfAnySize) {
  std::vector<TransposeCase> cases;
  for (const int64_t element_size : {1, 2, 4, 8, 16}) {
    for (const int64_t length : {1, 37, 1024, 70000}) {
      for (const bool is_row : {true, false}) {
        for (const bool in_place : {false, true}) {
          TransposeCase transpose;
          transpose.element_size = element_size;
          transpose.rows = is_row ? 1 : length;
          transpose.cols = is_row ? length : 1;
          transpose.in_place = in_place;
          transpose.vector_ld = kLds[cases.size() % 3];
          cases.push_back(transpose);
          transpose.batch = 3;
          transpose.vector_ld = kLds[cases.size() % 3];
          if (length < 70000) cases.push_back(transpose);
        }
      }
    }
  }
  run_forced(Family::kTranspose, GetParam(), cases, run_transpose);
}

const auto kProducts = ::testing::ValuesIn(row_names(Family::kGemm));
INSTANTIATE_TEST_SUITE_P(Kernels, GemmVectors, kProducts, row_test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, GemmVectorsWithEpilogue, kProducts, row_test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, SoftmaxVectors, ::testing::ValuesIn(row_names(Family::kSoftmax)),
                         row_test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, TransposeVectors,
                         ::testing::ValuesIn(row_names(Family::kTranspose)), row_test_name);

}  // namespace
}  // namespace mygemm_tests
