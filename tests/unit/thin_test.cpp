// Unit tests: how the thin kernels divide products into blocks, and which products they refuse.
#include "kernels/gemm/thin.h"

#include <algorithm>
#include <bit>
#include <string>

#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::configured;
using mygemm_tests::gemm;
using mygemm_tests::gemm_kernel;

constexpr size_t kMiB = 1024 * 1024;

// The thin side of a kernel's tiles, and k of the thin operand that its blocks hold at once.
struct Sizes {
  const char* name;
  int thin, chunk;
};
constexpr Sizes kKernels[] = {{"thin_1", Thin1::kThin, Thin1::kChunk},
                              {"thin_4", Thin4::kThin, Thin4::kChunk},
                              {"thin_8", Thin8::kThin, Thin8::kChunk},
                              {"thin_16", Thin16::kThin, Thin16::kChunk}};

// The product of for_many_products(); the long side is m.
struct Product {
  Sizes kernel;
  GemmProblem problem;
  const DeviceTraits& device;
  size_t workspace;
};

// Calls visit(product, config) for many products that the kernels can run.
void for_many_products(auto visit) {
  for (const Sizes& kernel : kKernels) {
    for (const DeviceTraits& device : known_devices()) {
      for (const int64_t extent : {1, 3, 16, 100, 4096, 100003}) {
        for (const int64_t k : {1, 63, 64, 257, 4096, 1000001}) {
          for (const int64_t batch : {1, 7, 1000}) {
            for (const size_t workspace : {size_t{0}, size_t{4096}, kMiB, SIZE_MAX}) {
              for (const bool transa : {false, true}) {
                const auto problem = gemm(transa, false, extent, kernel.thin, k, batch);
                const PlanOptions options{workspace, nullptr};
                const auto config = configured(gemm_kernel(kernel.name), problem, device, options);
                ASSERT_TRUE(config) << explain(problem, device, options);
                visit(Product{kernel, problem, device, workspace}, *config);
                if (testing::Test::HasFailure()) FAIL() << explain(problem, device, options);
              }
            }
          }
        }
      }
    }
  }
}

TEST(Thin, SplitsCoverKAndNoneIsEmptyWithoutClusters) {
  for_many_products([](const Product& product, const GemmConfig& config) {
    const int64_t k = product.problem.k;
    EXPECT_GE(config.splits * config.k_per_split, k);
    EXPECT_EQ(config.splits > 1, config.k_split != KSplit::kNone);
    if (config.k_split != KSplit::kCluster) {
      EXPECT_LT((config.splits - 1) * config.k_per_split, k);
    }
    if (config.splits > 1) {
      EXPECT_EQ(config.k_per_split % thin::kMNMajorStep, 0);
    }
  });
}

TEST(Thin, ClustersHaveABlockForEachSplitAndFitTheGpu) {
  int clustered = 0;
  for_many_products([&](const Product& product, const GemmConfig& config) {
    EXPECT_EQ(config.cluster_blocks > 0, config.k_split == KSplit::kCluster);
    if (config.k_split != KSplit::kCluster) return;
    ++clustered;
    EXPECT_GE(product.device.cc, 90);
    EXPECT_EQ(config.splits, config.cluster_blocks);
    EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(config.cluster_blocks)));
    EXPECT_EQ(config.passes, 1);  // a block sends one tile
    EXPECT_LE(config.splits, config.block_m * config.block_n);
    const int log2 = std::countr_zero(static_cast<unsigned>(config.cluster_blocks));
    EXPECT_LE(config.blocks / config.splits, product.device.clusters[log2] * config.resident);
  });
  EXPECT_GT(clustered, 0);
}

TEST(Thin, PartialSumsFitTheWorkspace) {
  int split = 0;
  for_many_products([&](const Product& product, const GemmConfig& config) {
    EXPECT_EQ(config.workspace_bytes > 0, config.k_split == KSplit::kWorkspace);
    if (config.k_split != KSplit::kWorkspace) return;
    ++split;
    const GemmProblem& p = product.problem;
    const auto bytes = static_cast<size_t>(config.splits * p.m * p.n * p.batch_count) * 4;
    EXPECT_LE(bytes, product.workspace);
    EXPECT_EQ(config.workspace_bytes, bytes);
  });
  EXPECT_GT(split, 0);
}

TEST(Thin, TilesAndPassesCoverTheLongSide) {
  for_many_products([](const Product& product, const GemmConfig& config) {
    const GemmProblem& p = product.problem;
    const bool long_is_m = p.n <= p.m;
    const int tile = long_is_m ? config.block_m : config.block_n;
    EXPECT_EQ(long_is_m ? config.block_n : config.block_m, product.kernel.thin);
    const int64_t tiles = ceil_div(std::max(p.m, p.n), int64_t{tile} * config.passes);
    EXPECT_EQ(config.tiles_m, long_is_m ? tiles : 1);
    EXPECT_EQ(config.tiles_n, long_is_m ? 1 : tiles);
    EXPECT_EQ(config.blocks, tiles * p.batch_count * config.splits);
    // A block that passes over several tiles has its k of the thin operand at once.
    if (config.passes > 1) {
      EXPECT_LE(config.k_per_split, product.kernel.chunk);
    }
  });
}

TEST(Thin, TheLongSideIsTheLargerOne) {
  EXPECT_TRUE(thin_shape(gemm(false, false, 100, 3, 50)).long_is_m);
  EXPECT_FALSE(thin_shape(gemm(false, false, 3, 100, 50)).long_is_m);
  EXPECT_FALSE(thin_shape(gemm(false, false, 100, 3, 50)).k_major);
  EXPECT_TRUE(thin_shape(gemm(true, false, 100, 3, 50)).k_major);
  EXPECT_TRUE(thin_shape(gemm(false, false, 3, 100, 50)).k_major);
  EXPECT_FALSE(thin_shape(gemm(false, true, 3, 100, 50)).k_major);
  EXPECT_TRUE(thin_shape(gemm(false, false, 1, 1, 50)).k_major);  // a row without gaps
}

TEST(Thin, FillsTheGpuWhereKIsLong) {
  const DeviceTraits& h200 = *find_device("H200");
  for (const bool transb : {false, true}) {
    const auto config = configured(gemm_kernel("thin_1"), gemm(false, transb, 1, 4096, 4096), h200,
                                   PlanOptions{32 * kMiB, nullptr});
    ASSERT_TRUE(config);
    EXPECT_GT(config->blocks, h200.num_sms * 9 / 10);
    EXPECT_LE(config->blocks, 4 * h200.num_sms);
  }
}

TEST(Thin, RefusesLargerProducts) {
  const DeviceTraits& h200 = *find_device("H200");
  const auto refusal = [&](const char* kernel, const GemmProblem& problem) {
    GemmConfig config;
    const char* reason = configure(gemm_kernel(kernel), problem, h200, {}, &config);
    return std::string(reason ? reason : "");
  };
  const std::string too_large = "both m and n are larger than the thin side";
  EXPECT_EQ(refusal("thin_1", gemm(false, false, 1, 100, 50)), "");
  EXPECT_EQ(refusal("thin_1", gemm(false, false, 2, 100, 50)), too_large);
  EXPECT_EQ(refusal("thin_16", gemm(true, true, 100, 16, 0)), "");
  EXPECT_EQ(refusal("thin_16", gemm(false, false, 17, 17, 50)), too_large);
  EXPECT_EQ(refusal("thin_1", gemm(false, false, INT64_MAX, 1, 1)),
            "more block tiles than a grid can have");
}

}  // namespace
}  // namespace mygemm
