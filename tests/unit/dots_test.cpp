// Unit tests: how the dots kernels divide results and k over lanes, and which products they refuse.
#include "kernels/gemm/dots.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::configured;
using mygemm_tests::gemm;
using mygemm_tests::gemm_kernel;

constexpr int kSms = 132;

template <class Group>
class DotsLanes : public ::testing::Test {};
using DotsGroups = ::testing::Types<Dots1, Dots4>;
TYPED_TEST_SUITE(DotsLanes, DotsGroups, );

TYPED_TEST(DotsLanes, LoadAllOfKAtOnce) {
  using Group = TypeParam;
  EXPECT_EQ(dots::log2_lanes<Group>(1, 0, kSms), 0u);
  EXPECT_EQ(dots::log2_lanes<Group>(1, Group::kUnrolled, kSms), 0u);
  EXPECT_EQ(dots::log2_lanes<Group>(1, Group::kUnrolled + 1, kSms), 1u);
  EXPECT_EQ(dots::log2_lanes<Group>(1, 8 * Group::kUnrolled, kSms), 3u);
  EXPECT_EQ(1 << dots::log2_lanes<Group>(1, 1000000, kSms), Group::kMostLanes);
}

TYPED_TEST(DotsLanes, ResideAtOnceForAllGroups) {
  using Group = TypeParam;
  for (const double groups : {1.0, 131.0, 133.0, 1e4, 1e5, 2e5, 2e9}) {
    const unsigned log2 = dots::log2_lanes<Group>(groups, 1000000, kSms);
    const double lanes = groups * static_cast<double>(1 << log2);
    EXPECT_TRUE(log2 == 0 || lanes <= kSms * Group::kResidentLanes) << groups;
    EXPECT_TRUE(1 << log2 == Group::kMostLanes || 2 * lanes > kSms * Group::kResidentLanes)
        << groups;
  }
}

template <class Group>
void expect_blocks_cover_all_groups(const char* row) {
  for (const DeviceTraits& device : known_devices()) {
    for (const int64_t m : {1, 31, 500, 3000}) {
      for (const int64_t k : {0, 1, 24, 100, 513, 100003}) {
        const auto config =
            configured(gemm_kernel(row), gemm(false, true, m, 7, k, 3), device, PlanOptions{});
        ASSERT_EQ(config.has_value(), k <= Group::kMostK);
        if (!config) continue;
        const int64_t groups = m * ceil_div(7, Group::kColumns) * 3;
        EXPECT_GE(config->blocks * config->block_m, groups);
        EXPECT_LT((config->blocks - 1) * config->block_m, groups);
        EXPECT_EQ(config->threads % config->block_m, 0);
        EXPECT_EQ(config->block_k, config->threads / config->block_m * Group::kUnrolled);
      }
    }
  }
}

TEST(Dots, BlocksCoverTheGroupsOfAllMatrices) {
  expect_blocks_cover_all_groups<Dots1>("dots");
  expect_blocks_cover_all_groups<Dots4>("dots_4");
}

TEST(Dots, RefusesWhatItCannotCount) {
  const auto refusal = [](const GemmProblem& problem) {
    GemmConfig config;
    const char* reason = configure(gemm_kernel("dots"), problem, *find_device("H200"), {}, &config);
    return std::string(reason ? reason : "");
  };
  EXPECT_EQ(refusal(gemm(false, false, 0x7fffffff, 1, 5)), "");
  EXPECT_EQ(refusal(gemm(false, false, int64_t{1} << 31, 1, 5)), "2^31 results and more");
  EXPECT_EQ(refusal(gemm(false, false, 1 << 20, 1 << 8, 5, 8)), "2^31 results and more");
  EXPECT_EQ(refusal(gemm(false, false, 1, 1, 0x7ffffffe)), "");
  EXPECT_EQ(refusal(gemm(false, false, 1, 1, 0x7fffffff)), "k of 2^31 - 1 and more");
}

}  // namespace
}  // namespace mygemm
