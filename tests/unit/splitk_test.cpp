// Unit tests: how split-K kernels divide k into ranges.
#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::configured;
using mygemm_tests::gemm;
using mygemm_tests::gemm_kernel;

TEST(SplitK, RangesCoverKAndNoneIsEmpty) {
  int divided = 0;
  for (const char* name : {"splitk_64x64", "splitk_64x32", "splitk_32x64", "splitk_32x32"}) {
    for (const DeviceTraits& device : known_devices()) {
      for (const int64_t k : {128, 129, 500, 520, 1000, 4097, 100003}) {
        for (const int64_t n : {1, 64, 500}) {
          for (const size_t workspace : {size_t{1} << 20, SIZE_MAX}) {
            const auto config = configured(gemm_kernel(name), gemm(false, false, 64, n, k), device,
                                           PlanOptions{workspace, nullptr});
            if (!config) continue;
            ++divided;
            EXPECT_GE(config->splits, 2);
            EXPECT_GE(config->splits * config->k_per_split, k);
            EXPECT_LT((config->splits - 1) * config->k_per_split, k);
            EXPECT_EQ(config->k_per_split % config->block_k, 0);
            EXPECT_EQ(config->workspace_bytes, static_cast<size_t>(config->splits * 64 * n) * 4);
            EXPECT_LE(config->workspace_bytes, workspace);
          }
        }
      }
    }
  }
  EXPECT_GT(divided, 0);
}

}  // namespace
}  // namespace mygemm
