// Tests of the drop-in BLAS with a GPU or the emulator: products divided into tiles in every way.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "blas/host.h"
#include "host/host.h"
#include "multiply_on.h"

namespace mygemm::blas {
namespace {

constexpr PipelineLimits kRoomy{{1'000'000, 8, 4, 10'000}, 4096, 1 << 20};
constexpr PipelineLimits kCutsBoth{{1'000'000, 8, 4}, 200, 0};
constexpr PipelineLimits kCutsK{{4'000, 8, 4}, 100, 0};
constexpr PipelineLimits kCutsAll{{12'000, 8, 4}, 50, 0};

void expect_cut(const Product& product, const PipelineLimits& limits, bool m, bool n, bool k) {
  const auto tiling = choose_tiling(product, limits.tiling);
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->blocks_m > 1, m);
  EXPECT_EQ(tiling->blocks_n > 1, n);
  EXPECT_EQ(tiling->blocks_k > 1, k);
}

TEST(BlasPipeline, ComputesProductsCutInEveryWay) {
  const OwnedProduct sample(false, false, 70, 90, 50, 0);
  expect_cut(sample.product(), kRoomy, false, true, false);
  expect_cut(sample.product(), kCutsBoth, true, true, false);
  expect_cut(sample.product(), kCutsK, true, true, true);
  for (const PipelineLimits& limits : {kRoomy, kCutsBoth, kCutsAll, kCutsK}) {
    Gpu gpu(0, limits);
    for (const bool transa : {false, true}) {
      for (const bool transb : {false, true}) {
        for (const float beta : {0.0f, 1.0f, -0.5f}) {
          OwnedProduct wide(transa, transb, 70, 90, 50, beta);
          EXPECT_TRUE(multiply_on(wide, &gpu));
          EXPECT_EQ(wide.wrong(), 0) << transa << transb << beta;
          OwnedProduct tall(transa, transb, 101, 33, 64, beta);
          EXPECT_TRUE(multiply_on(tall, &gpu));
          EXPECT_EQ(tall.wrong(), 0) << transa << transb << beta;
        }
      }
    }
  }
}

TEST(BlasPipeline, ComputesProductsOfOneRowOrColumnOrStep) {
  Gpu gpu(0, kCutsAll);
  for (const auto& [m, n, k] : {std::array{1, 80, 40}, {80, 1, 40}, {40, 40, 1}, {1, 1, 1}}) {
    OwnedProduct product(false, true, m, n, k, 2);
    EXPECT_TRUE(multiply_on(product, &gpu));
    EXPECT_EQ(product.wrong(), 0) << m << ' ' << n << ' ' << k;
  }
}

TEST(BlasPipeline, DoesNotReadCWhereBetaIsZero) {
  Gpu gpu(0, kCutsAll);
  OwnedProduct product(false, false, 70, 90, 50, 0);
  for (int64_t j = 0; j < 90; ++j) {
    for (int64_t i = 0; i < 70; ++i) {
      product.product().c[i + j * product.product().ldc] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  EXPECT_TRUE(multiply_on(product, &gpu));
  EXPECT_EQ(product.wrong(), 0);
}

// The last tile is narrower than the slots on the device: its leading dimension there and in the
// pinned buffers is larger than its height.
TEST(BlasPipeline, NarrowLastTilesFitTheirBuffers) {
  const PipelineLimits limits{{20'000, 40, 2}, 512, 0};
  for (const bool trans : {false, true}) {
    Gpu gpu(0, limits);
    OwnedProduct wide(trans, trans, 30, 90, 50, 0.5f);
    EXPECT_TRUE(multiply_on(wide, &gpu));
    EXPECT_EQ(wide.wrong(), 0);
    OwnedProduct tall(trans, trans, 90, 30, 50, 0.5f);
    EXPECT_TRUE(multiply_on(tall, &gpu));
    EXPECT_EQ(tall.wrong(), 0);
  }
}

// Copies that overtake a product, or products that overtake a copy, change the bits.
TEST(BlasPipeline, GivesTheSameBitsEveryTime) {
#ifdef MYGEMM_TESTS_EMULATED
  constexpr int64_t kScale = 1;
  constexpr int kRounds = 2;
#else
  constexpr int64_t kScale = 24;
  constexpr int kRounds = 25;
#endif
  const PipelineLimits limits{
      {20'000 * kScale * kScale, 8 * kScale, 4, 8'000 * kScale * kScale}, 512 * kScale, 0};
  OwnedProduct on_host(false, true, 70 * kScale, 90 * kScale, 40 * kScale, 0.5f);
  OwnedProduct on_gpu(false, true, 70 * kScale, 90 * kScale, 40 * kScale, 0.5f);
  expect_cut(on_gpu.product(), limits, false, true, false);
  multiply_on_host(on_host.product());
  Gpu gpu(0, limits);
  std::vector<float> first;
  for (int round = 0; round < kRounds; ++round) {
    on_gpu.reset();
    ASSERT_TRUE(multiply_on(on_gpu, &gpu));
    if (round == 0) first = on_gpu.c();
    EXPECT_EQ(std::memcmp(on_gpu.c().data(), first.data(), first.size() * sizeof(float)), 0);
  }
  float largest_error = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    if (std::isnan(first[i]) && std::isnan(on_host.c()[i])) continue;
    // A NaN on one side only is the larger.
    const float error = std::abs(first[i] - on_host.c()[i]);
    largest_error =
        std::isnan(error) ? std::numeric_limits<float>::infinity() : std::max(largest_error, error);
  }
  EXPECT_LT(largest_error, 1e-5f * static_cast<float>(40 * kScale));
}

// A transfer is worth a thread for each 256 KiB; pieces here have three strips.
TEST(BlasPipeline, SeveralThreadsCopyWhatOneCopies) {
  const int before = host::num_threads();
  const PipelineLimits limits{{1'000'000, 64, 4, 40'000}, 80'000, 0};
  for (const auto& [m, n, k] : {std::array{1000, 40, 400}, {40, 1000, 400}, {1000, 410, 4}}) {
    std::vector<float> of_one;
    for (const int threads : {1, 6}) {
      host::set_num_threads(threads);
      Gpu gpu(0, limits);
      OwnedProduct product(false, true, m, n, k, 0.5f);
      EXPECT_TRUE(multiply_on(product, &gpu));
      EXPECT_EQ(product.wrong(), 0) << m << ' ' << n << ' ' << k << ' ' << threads;
      if (threads == 1) of_one = product.c();
      EXPECT_EQ(std::memcmp(product.c().data(), of_one.data(), of_one.size() * sizeof(float)), 0);
    }
  }
  host::set_num_threads(before);
}

}  // namespace
}  // namespace mygemm::blas
