// Unit tests: the order in which blocks take tiles.
#include <cstdint>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "kernels/gemm/tile_order.h"

namespace mygemm {
namespace {

constexpr unsigned kBand = TilesInBands::kBand;

TEST(TilesInBands, GivesEachTileOfABatchOnce) {
  constexpr unsigned kMatrices = 3;
  for (unsigned tiles_m = 1; tiles_m <= 3 * kBand + 1; ++tiles_m) {
    for (const unsigned tiles_n : {1u, 2u, 7u, 8u, 31u}) {
      const TilesInBands tiles(tiles_m, tiles_n);
      std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
      for (unsigned tile = 0; tile < kMatrices * tiles_m * tiles_n; ++tile) {
        const auto [m, n, batch] = tiles.place_of(tile);
        EXPECT_LT(m, tiles_m);
        EXPECT_LT(n, tiles_n);
        EXPECT_EQ(batch, tile / (tiles_m * tiles_n));
        seen.emplace(m, n, batch);
      }
      EXPECT_EQ(seen.size(), size_t{kMatrices} * tiles_m * tiles_n) << tiles_m << " x " << tiles_n;
    }
  }
}

TEST(TilesInBands, GoesDownAColumnOfABandThenToTheNextColumn) {
  const TilesInBands tiles(kBand + 3, 5);
  const auto expect = [&](unsigned tile, unsigned m, unsigned n) {
    const auto place = tiles.place_of(tile);
    EXPECT_EQ(place.m, m) << tile;
    EXPECT_EQ(place.n, n) << tile;
  };
  expect(0, 0, 0);
  expect(kBand - 1, kBand - 1, 0);
  expect(kBand, 0, 1);
  expect(5 * kBand, kBand, 0);  // the last band has three rows
  expect(5 * kBand + 2, kBand + 2, 0);
  expect(5 * kBand + 3, kBand, 1);
}

// As many as a grid may have.
TEST(TilesInBands, HoldsFor2To31Tiles) {
  constexpr unsigned kLast = 0x7ffffffe;
  for (const unsigned tiles_m : {1u, 7u, 8u, 9u, 4096u, 0x7fffffffu}) {
    const unsigned tiles_n = 0x7fffffffu / tiles_m;
    const TilesInBands tiles(tiles_m, tiles_n);
    for (const unsigned tile : {kLast, kLast - 1, kLast / 2, kLast / 3}) {
      const auto [m, n, batch] = tiles.place_of(tile);
      const uint64_t all = uint64_t{tiles_m} * tiles_n, in_matrix = tile % all;
      const uint64_t band = in_matrix / (uint64_t{kBand} * tiles_n), first = band * kBand;
      const uint64_t rows = first + kBand <= tiles_m ? kBand : tiles_m - first;
      const uint64_t in_band = in_matrix - first * tiles_n;
      EXPECT_EQ(batch, tile / all) << tiles_m << ", " << tile;
      EXPECT_EQ(m, first + in_band % rows) << tiles_m << ", " << tile;
      EXPECT_EQ(n, in_band / rows) << tiles_m << ", " << tile;
    }
  }
}

}  // namespace
}  // namespace mygemm
