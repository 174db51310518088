// Tests of the drop-in BLAS: tiles cover C once and fit the device; pieces cover a tile once and
// fit a staging buffer.
#include <algorithm>
#include <utility>
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
    const TilingLimits limits{random.integer(3200, 60'000), 8, random.integer(1, kMostPanels),
                              random.integer(0, 2000), random.integer(0, 4000)};
    const auto tiling = choose_tiling(p, limits);
    ASSERT_TRUE(tiling) << p.m << ' ' << p.n << ' ' << p.k << ' ' << limits.device_floats;
    EXPECT_LE(device_floats(p, *tiling), limits.device_floats);
    EXPECT_GE(tiling->blocks_k * tiling->tile_k, p.k);
    std::vector<Rect> tiles;
    const int64_t parts = random.integer(1, 5);
    for (int64_t part = 0; part < parts; ++part) {
      const std::vector<Rect> of_part = tiles_of_result(p, *tiling, part, parts);
      tiles.insert(tiles.end(), of_part.begin(), of_part.end());
    }
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

// The slots of an operand, which panels have in turn.
class Slots {
 public:
  explicit Slots(int64_t count) : panels_(static_cast<size_t>(count), -1) {}
  // The transfers that the panel needs.
  int load(int64_t panel) {
    if (std::count(panels_.begin(), panels_.end(), panel) > 0) return 0;
    panels_[turn_++ % panels_.size()] = panel;
    return 1;
  }

 private:
  std::vector<int64_t> panels_;
  size_t turn_ = 0;
};

TEST(BlasTiling, TilesNeedOnePanelMoreAtATime) {
  int64_t most_groups = 0;
  for (const int64_t floats : {5'000'000, 500'000, 200'000}) {
    for (const auto& [m, n] : {std::pair{1024, 1024}, {512, 1024}, {1024, 384}}) {
      const Product p = shape(m, n, 320);
      const auto tiling = choose_tiling(p, {floats, 8, kMostPanels, 32 * 32});
      ASSERT_TRUE(tiling);
      ASSERT_EQ(tiling->blocks_k, 1);
      const int64_t staying = tiling->a_stays ? tiling->blocks_m : tiling->blocks_n;
      const int64_t streaming = tiling->a_stays ? tiling->blocks_n : tiling->blocks_m;
      const int64_t groups = (staying + tiling->staying - 1) / tiling->staying;
      most_groups = std::max(most_groups, groups);
      for (const int64_t parts : {1, 2, 3}) {
        int64_t of_a = 0, of_b = 0;
        for (int64_t part = 0; part < parts; ++part) {
          Slots a(tiling->slots_of_a()), b(tiling->slots_of_b());
          for (bool first = true; const Rect& tile : tiles_of_result(p, *tiling, part, parts)) {
            const int loads_a = a.load(tile.row), loads_b = b.load(tile.col);
            of_a += loads_a;
            of_b += loads_b;
            const bool begins = first || loads_a + loads_b < 2;  // of a group: at most two
            EXPECT_TRUE(begins || groups > 1) << m << ' ' << n << ' ' << floats;
            first = false;
          }
        }
        // Every GPU needs all panels that stay, and its own of the others once for each group.
        EXPECT_EQ(tiling->a_stays ? of_a : of_b, staying * parts);
        EXPECT_LE(tiling->a_stays ? of_b : of_a, streaming * groups);
      }
    }
  }
  EXPECT_GT(most_groups, 2);
}

TEST(BlasTiling, KeepsTheSmallerOperandWhole) {
  const TilingLimits roomy{int64_t{1} << 30, 256, 16, 2048 * 2048};
  const auto wide = choose_tiling(shape(4096, 8192, 4096), roomy);
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->a_stays);
  EXPECT_EQ(wide->blocks_m * wide->blocks_k, 1);
  EXPECT_EQ(wide->slots_of_a(), 1);
  EXPECT_EQ(wide->tile_n, 512);
  const auto tall = choose_tiling(shape(8192, 4096, 4096), roomy);
  ASSERT_TRUE(tall);
  EXPECT_FALSE(tall->a_stays);
  EXPECT_EQ(tall->blocks_n * tall->blocks_k, 1);
  EXPECT_EQ(tall->tile_m, 512);
}

TEST(BlasTiling, CutsBothSidesWhereTilesAreLargeEnough) {
  const TilingLimits limits{int64_t{2} << 30, 256, 16, 2048 * 2048};
  const auto tiling = choose_tiling(shape(16'384, 32'768, 16'384), limits);
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->tile_m, 2048);
  EXPECT_EQ(tiling->tile_n, 2048);
  EXPECT_EQ(tiling->staying, 8);
  const auto short_sums = choose_tiling(shape(16'384, 32'768, 4096), limits);
  ASSERT_TRUE(short_sums);
  EXPECT_EQ(short_sums->tile_m, 8192);
  EXPECT_EQ(short_sums->tile_n, 2048);
}

TEST(BlasTiling, CutsSmallMatricesIntoFewPanels) {
  const auto panels = [](int64_t m, int64_t n, int64_t k) {
    const auto tiling =
        choose_tiling(shape(m, n, k), {int64_t{2} << 30, 256, 16, 2048 * 2048, 2048 * 2048});
    return tiling ? tiling->panels_that_stream() : 0;
  };
  EXPECT_EQ(panels(1024, 1024, 1024), 2);
  EXPECT_EQ(panels(4096, 4096, 4096), 4);
  EXPECT_EQ(panels(4096, 4096, 64), 4);  // by C
  EXPECT_EQ(panels(64, 4096, 4096), 4);  // by B
  EXPECT_EQ(panels(32'768, 8192, 8192), 16);
}

TEST(BlasTiling, KeepsTilesLargeWhereMemoryIsShort) {
  for (const int64_t floats : {int64_t{2} << 30, int64_t{1} << 30, int64_t{1} << 28}) {
    const auto tiling =
        choose_tiling(shape(65'536, 65'536, 65'536), {floats, 256, 16, 2048 * 2048});
    ASSERT_TRUE(tiling);
    EXPECT_GE(tiling->tile_m, 2048) << floats;
    EXPECT_GE(tiling->tile_n, 2048) << floats;
  }
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
