// Unit tests: how the dots kernel divides results and k over lanes, and which products it refuses.
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

TEST(DotsLanes, LoadAllOfKAtOnce) {
  EXPECT_EQ(dots::log2_lanes(1, 0, kSms), 0u);
  EXPECT_EQ(dots::log2_lanes(1, DotsGroup::kUnrolled, kSms), 0u);
  EXPECT_EQ(dots::log2_lanes(1, DotsGroup::kUnrolled + 1, kSms), 1u);
  EXPECT_EQ(dots::log2_lanes(1, 32 * DotsGroup::kUnrolled, kSms), 5u);
  EXPECT_EQ(dots::log2_lanes(1, 1000000, kSms), 10u);
}

TEST(DotsLanes, ResideAtOnceForAllResults) {
  for (const double results : {1.0, 131.0, 133.0, 1e4, 1e5, 2e5, 2e9}) {
    const unsigned log2 = dots::log2_lanes(results, 1000000, kSms);
    const double lanes = results * static_cast<double>(1 << log2);
    EXPECT_TRUE(log2 == 0 || lanes <= kSms * DotsGroup::kMostLanes) << results;
    EXPECT_TRUE(log2 == 10 || 2 * lanes > kSms * DotsGroup::kMostLanes) << results;
  }
}

TEST(Dots, BlocksCoverTheResultsOfAllMatrices) {
  for (const DeviceTraits& device : known_devices()) {
    for (const int64_t m : {1, 31, 500, 3000}) {
      for (const int64_t k : {0, 1, 100, 513, 100003}) {
        const auto config =
            configured(gemm_kernel("dots"), gemm(false, true, m, 7, k, 3), device, PlanOptions{});
        ASSERT_TRUE(config);
        EXPECT_GE(config->blocks * config->block_m, m * 7 * 3);
        EXPECT_LT((config->blocks - 1) * config->block_m, m * 7 * 3);
        EXPECT_EQ(config->threads % config->block_m, 0);
        EXPECT_EQ(config->block_k, config->threads / config->block_m * DotsGroup::kUnrolled);
      }
    }
  }
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
