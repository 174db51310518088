// Tests of the drop-in BLAS: tiles are dealt out once, whoever takes them, leaves or gives back.
#include <gtest/gtest.h>

#include "blas/tile_shares.h"

namespace mygemm::blas {
namespace {

// `counts` tiles of each worker; a tile's row is its worker, its column its number there.
TileShares shares(const std::vector<int>& counts) {
  std::vector<std::vector<Rect>> all;
  for (const int count : counts) {
    std::vector<Rect>& tiles = all.emplace_back();
    const auto worker = static_cast<int64_t>(all.size()) - 1;
    for (int64_t i = 0; i < count; ++i) tiles.push_back({worker, i, 1, 1});
  }
  return TileShares(std::move(all));
}

std::string name(const std::optional<Rect>& tile) {
  return tile ? std::to_string(tile->row) + "." + std::to_string(tile->col) : "none";
}

TEST(BlasTileShares, AWorkerHasItsOwnTilesInOrder) {
  TileShares tiles = shares({3, 3});
  EXPECT_TRUE(tiles.none_is_taken());
  EXPECT_EQ(name(tiles.take(1)), "1.0");
  EXPECT_EQ(name(tiles.take(0)), "0.0");
  EXPECT_EQ(name(tiles.take(1)), "1.1");
  EXPECT_FALSE(tiles.none_is_taken());
}

TEST(BlasTileShares, AWorkerThatIsDoneTakesFromTheEndOfTheLargestShareButNotItsLast) {
  TileShares tiles = shares({0, 2, 4});
  EXPECT_EQ(name(tiles.take(0)), "2.3");
  EXPECT_EQ(name(tiles.take(0)), "2.2");
  EXPECT_EQ(name(tiles.take(2)), "2.0");
  EXPECT_EQ(name(tiles.take(0)), "1.1");
  EXPECT_EQ(name(tiles.take(0)), "none");
  EXPECT_FALSE(tiles.all_are_taken());
  EXPECT_EQ(name(tiles.take(1)), "1.0");
  EXPECT_EQ(name(tiles.take(2)), "2.1");
  EXPECT_EQ(name(tiles.take(2)), "none");
  EXPECT_TRUE(tiles.all_are_taken());
}

TEST(BlasTileShares, WhatIsGivenBackOrLeftIsTakenByOthers) {
  TileShares tiles = shares({1, 3});
  tiles.give_back(*tiles.take(1));
  EXPECT_TRUE(tiles.none_is_taken());
  tiles.leave(1);
  EXPECT_TRUE(tiles.none_is_taken());
  EXPECT_EQ(name(tiles.take(0)), "0.0");
  int others = 0;
  while (tiles.take(0)) ++others;
  EXPECT_EQ(others, 3);
  EXPECT_TRUE(tiles.all_are_taken());
}

}  // namespace
}  // namespace mygemm::blas
