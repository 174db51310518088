// Ops tests of the matrix products with a thin side: the thin kernels, forced on either side, in
// every layout, with many tiles and with few, with one split of k and with many; and dots, whose
// groups have one lane to 1024 there.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_16bit_case.h"
#include "gemm_case.h"
#include "support/handle.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{8} << 20;
constexpr mygemmOperation_t kOperations[] = {MYGEMM_OP_N, MYGEMM_OP_T};

struct Shape {
  int64_t m, n, k;
};

std::vector<std::string> rows_that_begin(const std::vector<const char*>& with) {
  std::vector<std::string> rows;
  for (const std::string& row : row_names(Family::kGemm)) {
    for (const char* beginning : with) {
      if (row.starts_with(beginning)) rows.push_back(row);
    }
  }
  return rows;
}

class GemmThinRow : public RowTest {
 protected:
  // Runs the shapes with all operations, first padded as `like` is, which may be aligned, then by
  // one more.
  void run(const std::vector<Shape>& shapes, size_t workspace, const GemmCase& like = {}) {
    Handle handle(Family::kGemm, GetParam(), workspace);
    RowTally tally(GetParam());
    GemmCase gemm = like;
    for (const Shape& shape : shapes) {
      gemm.m = shape.m;
      gemm.n = shape.n;
      gemm.k = shape.k;
      for (const mygemmOperation_t transa : kOperations) {
        for (const mygemmOperation_t transb : kOperations) {
          for (const int64_t padding : {like.padding, like.padding + 1}) {
            // The emulator computes every other one, and the others of the next shape.
            const bool skip = (&shape - shapes.data() + transa + transb + padding) % 2 != 0;
            if (kBuild == Build::kEmulated && skip) continue;
            gemm.transa = transa;
            gemm.transb = transb;
            gemm.padding = padding;
            ++gemm.seed;
            run_gemm(handle, gemm, &tally);
            if (HasFailure()) return;
          }
        }
      }
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

// Long sides around tiles of 4 to 128; k around batches, strides and chunks.
const std::vector<Shape> kShapes = {
    {1, 1, 5000},  {1, 4, 2052},   {3, 1, 4099},  {1, 36, 700},   {133, 1, 516},  {1, 260, 1028},
    {2, 3, 1500},  {4, 132, 1024}, {129, 3, 530}, {5, 5, 520},    {16, 16, 1100}, {16, 12, 513},
    {9, 136, 768}, {140, 16, 260}, {66, 13, 700}, {32, 16, 1024}, {8, 132, 520},  {70, 7, 1030}};

TEST_P(GemmThinRow, PartsOfKInTheWorkspace) { run(kShapes, kWorkspace); }

// A block then has all of k, one chunk of the thin operand after the other; with cluster split-K
// only if there are more chunks than a cluster has blocks.
TEST_P(GemmThinRow, ChunksWithoutWorkspace) {
  run(kShapes, 0);
  run({{1, 6, 20'000}, {4, 5, 11'001}, {9, 7, 10'400}}, 0);
}

TEST_P(GemmThinRow, LongSides) {
  run({{1, 1500, 140}, {1503, 1, 60}, {1500, 3, 132}, {1100, 15, 64}, {16, 1024, 72}}, kWorkspace);
}

// Columns of the long operand begin at every place of 16 bytes.
TEST_P(GemmThinRow, ColumnsBeginAnywhere) {
  GemmCase gemm;
  for (const size_t offset : {0, 4, 8, 12}) {
    gemm.offset = offset;
    gemm.padding = static_cast<int64_t>(offset) / 4;
    run({{4, 123, 70}, {124, 3, 37}, {1, 125, 33}, {253, 1, 21}, {29, 1, 9}, {3, 13, 130}},
        kWorkspace, gemm);
  }
}

TEST_P(GemmThinRow, IntegersAreExact) {
  GemmCase integers;
  integers.integers = true;
  integers.alpha = 2;
  integers.beta = -3;
  run({{1, 70, 600}, {4, 140, 600}, {12, 40, 600}, {140, 1, 260}}, kWorkspace, integers);
}

TEST_P(GemmThinRow, BatchesAndDeviceScalars) {
  GemmCase batch;
  batch.batch = 3;
  batch.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
  for (const Form form : {Form::kStrided, Form::kPointers}) {
    batch.form = form;
    run({{1, 70, 600}, {4, 33, 1030}, {40, 11, 520}, {40, 11, 20}}, kWorkspace, batch);
  }
}

// With alpha = 0 in device memory neither operand is read; with beta = 0 neither is C.
TEST_P(GemmThinRow, NothingIsReadThatIsNotNeeded) {
  GemmCase gemm;
  gemm.pointer_mode = MYGEMM_POINTER_MODE_DEVICE;
  gemm.alpha = 0;
  gemm.poisoned_inputs = true;
  run({{1, 70, 600}, {4, 33, 1030}, {40, 11, 520}, {40, 11, 20}}, kWorkspace, gemm);
  gemm = {};
  gemm.beta = 0;
  gemm.poisoned_c = true;
  run({{1, 70, 600}, {4, 33, 1030}, {40, 11, 520}, {40, 11, 20}}, kWorkspace, gemm);
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmThinRow, ::testing::ValuesIn(rows_that_begin({"thin_", "dots"})),
                         row_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GemmThinRow);

using GemmThin16Row = RowTest;

// Either operand begins anywhere or is aligned, and k is longer than what a block has of it at a
// time.
TEST_P(GemmThin16Row, OperandsThatBeginAnywhere) {
  Handle handle(Family::kGemm, GetParam(), kWorkspace);
  RowTally tally(GetParam());
  const int64_t thin = GetParam().ends_with("_1") ? 1 : GetParam().ends_with("_16") ? 13 : 4;
  int number = 0;
  for (const Shape& shape : {Shape{thin, 150, 1301}, Shape{150, thin, 2600}}) {
    for (const mygemmOperation_t transa : kOperations) {
      for (const mygemmOperation_t transb : kOperations) {
        for (const int64_t padding : {0, 3, 8}) {
          for (const size_t offset : {0, 2}) {
            if (++number % 3 != 0 && kBuild == Build::kEmulated) continue;
            Gemm16BitCase gemm{.transa = transa, .transb = transb};
            gemm.m = shape.m, gemm.n = shape.n, gemm.k = shape.k;
            gemm.padding = padding;
            gemm.aligned = padding == 8;
            gemm.offset = offset;
            gemm.a = gemm.b = gemm.out = number % 2 == 0 ? MYGEMM_R_16F : MYGEMM_R_16BF;
            gemm.seed = static_cast<uint64_t>(number);
            run_16bit(handle, gemm, &tally);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
  tally.finish();
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmThin16Row, ::testing::ValuesIn(rows_that_begin({"thin16_"})),
                         row_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GemmThin16Row);

}  // namespace
}  // namespace mygemm_tests
