// Ops tests of the matrix products whose blocks stay on their multiprocessor: they walk over the
// tiles of C in bands of 8 tiles along m. Products with more tiles than a band has, on each such
// kernel; special values in the second band are in special_values_test.cpp.
#include <charconv>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gemm_case.h"
#include "support/handle.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{36} << 20;
constexpr int64_t kBandTiles = 8;

bool walks_in_bands(const std::string& kernel) {
  return kernel.starts_with("tma_") || kernel.starts_with("streamk_") ||
         kernel.starts_with("short_") || (runs_on_tensor_cores(kernel) && kernel != "packed");
}

std::vector<std::string> persistent_kernels() {
  std::vector<std::string> kernels;
  for (const std::string& kernel : row_names(Family::kGemm)) {
    if (walks_in_bands(kernel)) kernels.push_back(kernel);
  }
  return kernels;
}

struct Tile {
  int64_t m = 0, n = 0;
};

// The tile that a kernel's name ends with: <m>x<n>.
Tile tile_of(const std::string& kernel) {
  const char* const end = kernel.data() + kernel.size();
  Tile tile;
  const char* at = kernel.data() + kernel.rfind('_') + 1;
  at = std::from_chars(at, end, tile.m).ptr + 1;
  std::from_chars(at, end, tile.n);
  return tile;
}

class GemmBandRow : public RowTest {};

// Nine tiles along m, so that a whole band is followed by a band of one tile along m, and two along
// n. The kernel may compute the transpose of C: both sides of C are long in turn. k is large enough
// for each stream-K kernel to have stream-K tiles on a device with 5 multiprocessors and with 132.
TEST_P(GemmBandRow, SecondBandOfTiles) {
  const Tile tile = tile_of(GetParam());
  ASSERT_GT(tile.m, 0);
  ASSERT_GT(tile.n, 0);
  const int64_t side = (kBandTiles + 1) * tile.m - 3;
  const int64_t step = runs_on_tensor_cores(GetParam()) ? 32 : 16;
  const bool cut = GetParam().find("streamk_") != std::string::npos;
  Handle handle(Family::kGemm, GetParam(), kWorkspace);
  RowTally tally(GetParam());
  GemmCase gemm;
  const auto run = [&](int64_t m, int64_t n, mygemmOperation_t transa, mygemmOperation_t transb) {
    gemm.m = m;
    gemm.n = n;
    gemm.transa = transa;
    gemm.transb = transb;
    ++gemm.seed;
    run_gemm(handle, gemm, &tally);
    return !HasFailure();
  };
  gemm.k = cut ? 10 * step + 3 : step + 3;
  gemm.integers = true;
  if (!run(side, tile.n + 5, MYGEMM_OP_N, MYGEMM_OP_T)) return;
  gemm.padding = 4 - gemm.k % 4;
  if (!run(5, side, MYGEMM_OP_T, MYGEMM_OP_N)) return;
  // Columns of D that tensor maps describe; a GPU's blocks take several tiles.
  gemm.padding = 0;
  gemm.k += 4 - gemm.k % 4;
  const int64_t columns = (kBuild == Build::kGpu ? 16 : 1) * tile.n + 4;
  for (const auto op : {MYGEMM_OP_N, MYGEMM_OP_T}) {  // TT may be computed transposed
    for (const float beta : {0.0f, -2.0f}) {
      gemm.beta = beta;
      if (!run(side - 1, columns, op, op)) return;
    }
  }
  EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
  tally.finish();
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmBandRow, ::testing::ValuesIn(persistent_kernels()),
                         row_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GemmBandRow);

}  // namespace
}  // namespace mygemm_tests
