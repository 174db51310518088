// Unit tests: how products with a thin side are cut, and which of them are refused.
#include "kernels/gemm/thin.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::gemm;
using mygemm_tests::gemm_row;

constexpr size_t kMiB = 1024 * 1024;

// Calls visit(row, problem, device, workspace, cuts) for many products that the rows can run.
void for_many_products(auto visit) {
  for (const char* name : {"thin_1", "thin_4", "thin_16"}) {
    const GemmRow& row = gemm_row(name);
    for (const DeviceTraits& device : known_devices()) {
      for (const int64_t extent : {1, 3, 16, 100, 4096, 100003}) {
        for (const int64_t k : {1, 63, 64, 257, 4096, 1000001}) {
          for (const int64_t batch : {1, 7, 1000}) {
            for (const size_t workspace : {size_t{0}, size_t{4096}, kMiB, SIZE_MAX}) {
              for (const bool transa : {false, true}) {
                const auto problem = gemm(transa, false, extent, row.block_n, k, batch);
                visit(row, problem, device, workspace, thin_cuts(row, problem, device, workspace));
                if (testing::Test::HasFailure()) FAIL() << explain(problem, device, {workspace});
              }
            }
          }
        }
      }
    }
  }
}

TEST(ThinCuts, PartsCoverKAndNoneIsEmptyWithoutClusters) {
  for_many_products(
      [](const GemmRow&, const GemmProblem& p, const DeviceTraits&, size_t, const ThinCuts& cuts) {
        EXPECT_GE(cuts.splits * cuts.depth_per_split, p.k);
        if (cuts.log2_slices == 0) {
          EXPECT_LT((cuts.splits - 1) * cuts.depth_per_split, p.k);
        }
        if (cuts.splits > 1) {
          EXPECT_EQ(cuts.depth_per_split % thin::kTileStep, 0);
        }
      });
}

TEST(ThinCuts, ClustersHaveABlockForEachPartAndFitTheGpu) {
  int clustered = 0;
  for_many_products([&](const GemmRow& row, const GemmProblem&, const DeviceTraits& device, size_t,
                        const ThinCuts& cuts) {
    if (cuts.log2_slices == 0) return;
    ++clustered;
    EXPECT_GE(device.cc, 90);
    EXPECT_EQ(cuts.splits, 1 << cuts.log2_slices);
    EXPECT_EQ(cuts.passes, 1);  // a block sends one tile
    EXPECT_LE(cuts.splits, cuts.tile * row.block_n);
    EXPECT_LE(cuts.blocks / static_cast<double>(cuts.splits),
              device.clusters[cuts.log2_slices] * row.blocks_per_sm);
  });
  EXPECT_GT(clustered, 0);
}

TEST(ThinCuts, PartialSumsFitTheWorkspace) {
  for_many_products([](const GemmRow& row, const GemmProblem& p, const DeviceTraits& device,
                       size_t workspace, const ThinCuts& cuts) {
    if (cuts.splits == 1 || cuts.log2_slices > 0) return;
    const auto bytes = static_cast<size_t>(cuts.splits * p.m * p.n * p.batch_count) * 4;
    EXPECT_LE(bytes, workspace);
    EXPECT_GE(thin_workspace_bytes(row, p, device), bytes);
  });
}

TEST(ThinCuts, TilesAndPassesCoverTheLongSide) {
  for_many_products([](const GemmRow& row, const GemmProblem& p, const DeviceTraits&, size_t,
                       const ThinCuts& cuts) {
    const int64_t blocks = ceil_div(std::max(p.m, p.n), cuts.tile * cuts.passes);
    EXPECT_EQ(cuts.blocks, static_cast<double>(blocks * p.batch_count * cuts.splits));
    // A block that passes over several tiles has its part of the thin operand at once.
    if (cuts.passes > 1) {
      EXPECT_LE(cuts.depth_per_split, row.block_k);
    }
  });
}

TEST(ThinCuts, TheLongSideIsTheLargerOne) {
  EXPECT_TRUE(thin_shape(gemm(false, false, 100, 3, 50)).long_is_m);
  EXPECT_FALSE(thin_shape(gemm(false, false, 3, 100, 50)).long_is_m);
  EXPECT_FALSE(thin_shape(gemm(false, false, 100, 3, 50)).along_k);
  EXPECT_TRUE(thin_shape(gemm(true, false, 100, 3, 50)).along_k);
  EXPECT_TRUE(thin_shape(gemm(false, false, 3, 100, 50)).along_k);
  EXPECT_FALSE(thin_shape(gemm(false, true, 3, 100, 50)).along_k);
  EXPECT_TRUE(thin_shape(gemm(false, false, 1, 1, 50)).along_k);  // a row without gaps
}

TEST(ThinCuts, FillTheGpuWhereKIsLong) {
  const DeviceTraits& h200 = *find_device("H200");
  for (const bool transb : {false, true}) {
    const auto cuts =
        thin_cuts(gemm_row("thin_1"), gemm(false, transb, 1, 4096, 4096), h200, 32 * kMiB);
    EXPECT_GT(cuts.blocks, 1.5 * h200.num_sms);
    EXPECT_LE(cuts.blocks, 4 * h200.num_sms);
  }
}

TEST(ThinCuts, RowsRefuseWhatIsNotThin) {
  const DeviceTraits& h200 = *find_device("H200");
  const auto refusal = [&](const char* row, const GemmProblem& problem) {
    const char* reason = unsupported(gemm_row(row), problem, h200, {});
    return std::string(reason ? reason : "");
  };
  const std::string too_large = "both m and n are larger than the row's thin side";
  EXPECT_EQ(refusal("thin_1", gemm(false, false, 1, 100, 50)), "");
  EXPECT_EQ(refusal("thin_1", gemm(false, false, 2, 100, 50)), too_large);
  EXPECT_EQ(refusal("thin_16", gemm(true, true, 100, 16, 0)), "");
  EXPECT_EQ(refusal("thin_16", gemm(false, false, 17, 17, 50)), too_large);
  EXPECT_EQ(refusal("thin_1", gemm(false, false, INT64_MAX, 1, 1)),
            "more block tiles than a grid can have");
}

}  // namespace
}  // namespace mygemm
