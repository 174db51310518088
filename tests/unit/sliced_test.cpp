// Unit tests: how sliced-K kernels split k over clusters, and the divisions that they do without.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/divisor.h"
#include "kernels/gemm/sliced.h"
#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::configured;
using mygemm_tests::gemm;
using mygemm_tests::gemm_kernel;

// Numbers around powers of two, and some of no kind.
std::vector<unsigned> numbers() {
  std::vector<unsigned> values = {1, 3, 5, 7, 132, 1000003, 715827883, 2147483646, 2147483647};
  for (int bit = 1; bit < 31; ++bit) {
    for (const int beside : {-1, 0, 1})
      values.push_back((1u << bit) + static_cast<unsigned>(beside));
  }
  return values;
}

TEST(Divisor, GivesTheQuotientOfAllNumbersBelowTwoToThe31) {
  for (const unsigned divisor : numbers()) {
    const Divisor by(divisor);
    EXPECT_EQ(by.value(), divisor);
    EXPECT_EQ(by.quotient(0), 0u);
    for (const unsigned number : numbers()) {
      ASSERT_EQ(by.quotient(number), number / divisor) << number << " / " << divisor;
      const unsigned multiple = number - number % divisor;
      ASSERT_EQ(by.quotient(multiple), multiple / divisor) << multiple << " / " << divisor;
      if (multiple == 0) continue;
      ASSERT_EQ(by.quotient(multiple - 1), (multiple - 1) / divisor) << multiple << " - 1";
    }
  }
}

int64_t splits(const char* name, int64_t m, int64_t n, int64_t k, const char* device) {
  const auto config = configured(gemm_kernel(name), gemm(false, false, m, n, k),
                                 *find_device(device), PlanOptions{});
  return config ? config->splits : 0;
}

TEST(SlicedSplits, AreAsManyAsResideAtOnce) {
  // Clusters of 16, 8, 4 and 2 on an H200: 7, 15, 30 and 66, of three blocks a multiprocessor each.
  EXPECT_EQ(splits("sliced_32x16", 32 * 21, 16, 100000, "H200"), 16);
  EXPECT_EQ(splits("sliced_32x16", 32 * 22, 16, 100000, "H200"), 8);
  EXPECT_EQ(splits("sliced_32x16", 32 * 46, 16, 100000, "H200"), 4);
  EXPECT_EQ(splits("sliced_32x16", 32 * 91, 16, 100000, "H200"), 2);
  EXPECT_EQ(splits("sliced_32x16", 32 * 199, 16, 100000, "H200"), 1);
}

TEST(SlicedSplits, HaveRoomForNoMoreBlocksThanResideAtOnce) {
  const DeviceTraits& h200 = *find_device("H200");
  for (const int expected : {1, 2, 3}) {
    const auto config = configured(gemm_kernel("sliced_32x16"),
                                   gemm(false, false, 32 * 7 * expected, 16, 100000), h200, {});
    ASSERT_TRUE(config);
    EXPECT_EQ(config->resident, expected);
    EXPECT_EQ(residency(h200.sm, config->threads, static_cast<int>(config->shared_bytes), 32),
              expected);
  }
}

TEST(SlicedSplits, AreNoShorterThanPays) {
  constexpr int64_t kLeast = sliced::kLeastKPerSplit;
  EXPECT_EQ(splits("sliced_32x16", 32, 16, 2 * kLeast - 1, "H200"), 1);
  EXPECT_EQ(splits("sliced_32x16", 32, 16, 2 * kLeast, "H200"), 2);
  EXPECT_EQ(splits("sliced_32x16", 32, 16, 4 * kLeast, "H200"), 4);
}

TEST(SlicedSplits, NeedClustersAndAKernelThatAddsUp) {
  EXPECT_EQ(splits("sliced_32x16", 32, 16, 100000, "A100"), 1);
  EXPECT_EQ(splits("sliced_32x32", 32, 16, 100000, "H200"), 1);
}

TEST(SlicedSplits, CoverKWithAClusterForEachTile) {
  for (const char* name : {"sliced_64x64", "sliced_32x32", "sliced_32x16"}) {
    for (const DeviceTraits& device : known_devices()) {
      for (const int64_t m : {1, 31, 500, 3000}) {
        for (const int64_t k : {0, 1, 127, 128, 513, 100003}) {
          const auto config =
              configured(gemm_kernel(name), gemm(false, true, m, 40, k, 3), device, PlanOptions{});
          ASSERT_TRUE(config) << name;
          EXPECT_GE(config->splits * config->k_per_split, k);
          EXPECT_EQ(config->blocks, config->tiles_m * config->tiles_n * 3 * config->splits);
          EXPECT_EQ(config->k_split, config->splits > 1 ? KSplit::kCluster : KSplit::kNone);
          EXPECT_EQ(config->cluster_blocks, config->splits > 1 ? config->splits : 0);
          EXPECT_EQ(config->workspace_bytes, 0u);
          // Copies of 16 bytes begin at the same places of every split.
          if (config->splits > 1) {
            EXPECT_EQ(config->k_per_split % 4, 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mygemm
