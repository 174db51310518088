// Tests of the drop-in BLAS: which products are worth the transfers to a GPU.
#include <gtest/gtest.h>

#include "blas/offload_cost.h"

namespace mygemm::blas {
namespace {

// Round figures, so that the seconds below can be read off.
constexpr OffloadRates kRates{.host_flops = 1e11,
                              .host_bytes = 1e11,
                              .transfer_bytes = 1e10,
                              .transfers_bytes = 1.2e10,
                              .gpu_flops = 1e13,
                              .gpu_call_seconds = 1e-4,
                              .gpu_start_seconds = 0.5,
                              .more_gpus_seconds = 0.5};
constexpr OffloadRates kStarted{.host_flops = 1e11,
                                .host_bytes = 1e11,
                                .transfer_bytes = 1e10,
                                .transfers_bytes = 1.2e10,
                                .gpu_flops = 1e13,
                                .gpu_call_seconds = 1e-4,
                                .gpu_start_seconds = 0,
                                .more_gpus_seconds = 0};

TEST(BlasOffloadCost, IsOfFlopsBytesAndTheCall) {
  const ProductShape cube{1000, 1000, 1000, false};
  EXPECT_NEAR(host_seconds(kRates, cube, 1), 2e-2, 1e-9);
  EXPECT_NEAR(host_seconds(kRates, cube, 10), 2e-3, 1e-9);
  EXPECT_NEAR(gpu_seconds(kRates, cube), 1e-4 + 1.2e-3, 1e-9);
  EXPECT_NEAR(gpu_seconds(kRates, {1000, 1000, 1000, true}), 1e-4 + 1.6e-3, 1e-9);
  EXPECT_NEAR(gpu_seconds(kRates, {10'000, 10'000, 10'000, false}), 1e-4 + 0.2, 1e-9);
}

TEST(BlasOffloadCost, KeepsSmallAndThinProductsOnTheHost) {
  OffloadDecision decision(kStarted);
  EXPECT_FALSE(decision.worth({100, 100, 100, false}, 1));
  EXPECT_FALSE(decision.worth({1, 100'000, 10'000, false}, 16));  // moves more than it multiplies
  EXPECT_FALSE(decision.worth({1000, 1000, 1000, false}, 100));   // enough threads
  EXPECT_TRUE(decision.worth({1000, 1000, 1000, false}, 1));
}

TEST(BlasOffloadCost, PaysForTheStartOutOfWhatItWouldHaveSaved) {
  OffloadDecision decision(kRates);
  const ProductShape cube{1000, 1000, 1000, false};  // saves 18.7 ms: 27 of them save 0.505 s
  int on_host = 0;
  while (!decision.worth(cube, 1)) ++on_host;
  EXPECT_EQ(on_host, 26);
  EXPECT_TRUE(decision.worth(cube, 1));
  EXPECT_FALSE(decision.worth({10, 10, 10, false}, 1));
}

TEST(BlasOffloadCost, BySizeIsTheSameFromTheFirstProductOn) {
  for (int call = 0; call < 3; ++call) {
    EXPECT_FALSE(is_worth_by_size(kRates, {100, 100, 100, false}));
    EXPECT_FALSE(is_worth_by_size(kRates, {1, 100'000, 10'000, false}));
    EXPECT_TRUE(is_worth_by_size(kRates, {1000, 1000, 1000, false}));
  }
}

TEST(BlasOffloadCost, OfSeveralGpusIsOfTheLargestPartAndOfAllTransfers) {
  // 2e12 operations take 0.2 s on one, 1.2 GB 0.12; each of two has A and half of B and C.
  EXPECT_NEAR(gpus_seconds(kRates, {10'000, 10'000, 10'000, false}, 2), 2e-4 + 1.6e9 / 1.2e10,
              1e-6);
  EXPECT_NEAR(gpus_seconds(kRates, {40'000, 40'000, 40'000, false}, 2), 2e-4 + 6.4, 1e-6);
  const ProductShape wide{1000, 9000, 1000, false}, tall{9000, 1000, 1000, false};
  EXPECT_EQ(gpus_seconds(kRates, wide, 3), gpus_seconds(kRates, tall, 3));
}

TEST(BlasOffloadCost, DealsOutWhatPaysForTheStartOfTheOtherGpus) {
  DealingDecision decision(kRates);
  const ProductShape small{1000, 1000, 1000, false};  // transfers alone take as long
  EXPECT_EQ(decision.gpus_for(small, 2), 1);
  const ProductShape large{10'000, 10'000, 10'000, false};  // saves 0.067 s of 0.2
  EXPECT_EQ(decision.gpus_for(large, 1), 1);
  int on_one = 0;
  while (decision.gpus_for(large, 2) == 1) ++on_one;
  EXPECT_EQ(on_one, 7);
  EXPECT_EQ(decision.gpus_for(large, 2), 2);
  EXPECT_EQ(decision.gpus_for(small, 2), 1);
}

TEST(BlasOffloadCost, DealsOutToNoMoreGpusThanTransfersAreWorth) {
  DealingDecision decision(kStarted);
  EXPECT_EQ(decision.gpus_for({10'000, 10'000, 10'000, false}, 8), 2);
  EXPECT_EQ(decision.gpus_for({1'000'000, 1'000'000, 1'000'000, false}, 8), 8);
  EXPECT_EQ(DealingDecision(kRates).gpus_for({40'000, 40'000, 40'000, false}, 2), 2);
}

TEST(BlasOffloadCost, OfOneHugeProductPaysAtOnce) {
  OffloadDecision decision(kRates);
  EXPECT_TRUE(decision.worth({10'000, 10'000, 10'000, false}, 16));
}

TEST(BlasOffloadCost, OfTheLargestSizesIsFinite) {
  const ProductShape largest{INT64_MAX, INT64_MAX, INT64_MAX, true};
  EXPECT_GT(host_seconds(kMeasuredRates, largest, 1), gpu_seconds(kMeasuredRates, largest));
  EXPECT_LT(host_seconds(kMeasuredRates, largest, 0), 1e300);
}

}  // namespace
}  // namespace mygemm::blas
