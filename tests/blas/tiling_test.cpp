// Tests of the drop-in BLAS: tiles cover C once and fit the device; pieces cover a tile once and
// fit a staging buffer.
#include <vector>

#include <gtest/gtest.h>

#include "blas/tiling.h"
#include "support/random.h"

namespace mygemm::blas {
namespace {

using mygemm_tests::Random;

Product shape(int64_t m, int64_t n, int64_t k, bool transa = false, bool transb = false) {
  return {transa, transb, m, n, k, 1, nullptr, 1, nullptr, 1, 0, nullptr, m};
}

// How often each element of a rows x cols matrix is in one of the rectangles.
std::vector<int> coverage(int64_t rows, int64_t cols, const std::vector<Rect>& rects) {
  std::vector<int> counts(static_cast<size_t>(rows * cols), 0);
  for (const Rect& rect : rects) {
    for (int64_t j = rect.col; j < rect.col + rect.cols; ++j) {
      for (int64_t i = rect.row; i < rect.row + rect.rows; ++i) {
        ++counts.at(static_cast<size_t>(i + j * rows));
      }
    }
  }
  return counts;
}

TEST(BlasTiling, CoversEveryElementOnceWithinTheLimit) {
  Random random(7);
  int cut_m = 0, cut_n = 0, cut_k = 0;
  for (int round = 0; round < 500; ++round) {
    const Product p = shape(random.integer(1, 150), random.integer(1, 150), random.integer(1, 150),
                            random.integer(0, 1) == 1, random.integer(0, 1) == 1);
    const TilingLimits limits{random.integer(3200, 40'000), 8, random.integer(1, 16)};
    const auto tiling = choose_tiling(p, limits);
    ASSERT_TRUE(tiling) << p.m << ' ' << p.n << ' ' << p.k << ' ' << limits.device_floats;
    EXPECT_LE(device_floats(p, *tiling), limits.device_floats);
    EXPECT_GE(tiling->blocks_k * tiling->tile_k, p.k);
    const std::vector<Rect> tiles = tiles_of_result(p, *tiling);
    EXPECT_EQ(coverage(p.m, p.n, tiles), std::vector<int>(static_cast<size_t>(p.m * p.n), 1));
    for (const Rect& tile : tiles) {
      EXPECT_LE(tile.rows, tiling->tile_m);
      EXPECT_LE(tile.cols, tiling->tile_n);
    }
    cut_m += tiling->blocks_m > 1;
    cut_n += tiling->blocks_n > 1;
    cut_k += tiling->blocks_k > 1;
  }
  EXPECT_GT(cut_m, 50);
  EXPECT_GT(cut_n, 50);
  EXPECT_GT(cut_k, 50);
}

TEST(BlasTiling, KeepsTheSmallerOperandWhole) {
  const TilingLimits roomy{int64_t{1} << 30, 256, 16};
  const auto wide = choose_tiling(shape(4096, 8192, 4096), roomy);
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->a_stays);
  EXPECT_EQ(wide->blocks_m * wide->blocks_k, 1);
  EXPECT_EQ(wide->tile_n, 512);
  const auto tall = choose_tiling(shape(8192, 4096, 4096), roomy);
  ASSERT_TRUE(tall);
  EXPECT_FALSE(tall->a_stays);
  EXPECT_EQ(tall->blocks_n * tall->blocks_k, 1);
  EXPECT_EQ(tall->tile_m, 512);
}

TEST(BlasTiling, KeepsTilesLargeWhereMemoryIsShort) {
  const auto tiling = choose_tiling(shape(65'536, 65'536, 65'536), {int64_t{1} << 30, 256, 16});
  ASSERT_TRUE(tiling);
  EXPECT_GE(tiling->tile_m, 2048);
  EXPECT_GE(tiling->tile_n, 2048);
}

TEST(BlasTiling, SaysSoWhereNothingFits) {
  EXPECT_FALSE(choose_tiling(shape(100, 100, 100), {100, 8, 4}));
}

TEST(BlasPieces, CoverEveryElementOnceWithinTheCapacity) {
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    const int64_t rows = random.integer(1, 200);
    const int64_t cols = random.integer(1, 50);
    const int64_t capacity = random.integer(1, 1000);
    const int64_t ld = rows + random.integer(0, 100);
    const Pieces pieces(rows, cols, ld, capacity);
    std::vector<Rect> all;
    for (int64_t i = 0; i < pieces.count(); ++i) {
      all.push_back(pieces.at(i));
      EXPECT_LE(Pieces::extent(all.back(), ld), capacity);
      EXPECT_TRUE(all.back().cols == 1 || all.back().rows == rows);  // contiguous on the device
    }
    EXPECT_EQ(coverage(rows, cols, all), std::vector<int>(static_cast<size_t>(rows * cols), 1));
  }
}

}  // namespace
}  // namespace mygemm::blas
