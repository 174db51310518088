// Unit tests: how the k steps of a product's tiles are shared out among blocks.
#include "kernels/gemm/streamk.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace mygemm {
namespace {

std::vector<WorkItem> items_of(const WorkShares& shares, int block) {
  std::vector<WorkItem> items;
  WorkList list(shares, block);
  for (WorkItem item; list.next(&item);) items.push_back(item);
  return items;
}

std::vector<WorkShares> many_shares() {
  std::vector<WorkShares> all;
  for (const int sms : {2, 7, 132}) {
    for (const int tiles : {1, 2, 5, 66, 131, 132, 133, 140, 300}) {
      for (const int steps : {1, 3, 4, 9, 64, 1000}) {
        all.push_back({tiles, 0, steps, std::min(tiles, sms)});
        const int blocks = blocks_to_share(tiles, steps, sms);
        if (blocks > 0) all.push_back({tiles, tiles_to_cut(tiles, sms), steps, blocks});
      }
    }
  }
  return all;
}

TEST(WorkShares, EveryStepOfEveryTileIsSomebodysOnce) {
  for (const WorkShares& shares : many_shares()) {
    std::vector<int> taken(static_cast<size_t>(shares.tiles) * static_cast<size_t>(shares.steps));
    for (int block = 0; block < shares.blocks; ++block) {
      for (const WorkItem& item : items_of(shares, block)) {
        ASSERT_LT(item.begin, item.end);
        for (int step = item.begin; step < item.end; ++step) {
          ++taken[static_cast<size_t>(item.tile) * static_cast<size_t>(shares.steps) +
                  static_cast<size_t>(step)];
        }
      }
    }
    EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), static_cast<int64_t>(taken.size()));
  }
}

// A block that waited before it has left its piece could wait for one that waits for it.
TEST(WorkShares, WhatOthersFinishComesFirst) {
  for (const WorkShares& shares : many_shares()) {
    for (int block = 0; block < shares.blocks; ++block) {
      const std::vector<WorkItem> items = items_of(shares, block);
      for (size_t i = 1; i < items.size(); ++i) EXPECT_EQ(items[i].end, shares.steps);
    }
  }
}

TEST(WorkShares, PiecesOfATileAreThoseOfTheBlocksFromTheFirstToTheOneThatFinishesIt) {
  for (const WorkShares& shares : many_shares()) {
    for (int block = 0; block < shares.blocks; ++block) {
      for (const WorkItem& item : items_of(shares, block)) {
        if (item.begin == 0 || item.end < shares.steps) continue;
        int at = 0;  // where the pieces so far end
        for (int other = shares.first_block_of(item.tile); other <= block; ++other) {
          const std::vector<WorkItem> pieces = items_of(shares, other);
          const auto piece = std::find_if(pieces.begin(), pieces.end(),
                                          [&](const WorkItem& x) { return x.tile == item.tile; });
          ASSERT_NE(piece, pieces.end());
          EXPECT_EQ(piece->begin, at);
          at = piece->end;
        }
        EXPECT_EQ(at, shares.steps);
      }
    }
  }
}

TEST(WorkShares, CutTilesGiveAllBlocksTheSame) {
  for (const WorkShares& shares : many_shares()) {
    if (shares.cut_tiles == 0) continue;
    const double fair = static_cast<double>(shares.tiles) * shares.steps / shares.blocks;
    for (int block = 0; block < shares.blocks; ++block) {
      int steps = 0;
      for (const WorkItem& item : items_of(shares, block)) steps += item.end - item.begin;
      EXPECT_LE(std::abs(steps - fair), 2 * WorkShares::kLeastSteps);
    }
  }
}

TEST(WorkShares, TilesThatFillTheBlocksStayWhole) {
  EXPECT_EQ(tiles_to_cut(264, 132), 0);
  EXPECT_EQ(tiles_to_cut(72, 132), 72);        // fewer than blocks: all
  EXPECT_EQ(tiles_to_cut(512, 132), 116);      // the last round
  EXPECT_EQ(tiles_to_cut(136, 132), 132 + 4);  // a few would be in many pieces
  EXPECT_EQ(streamk_bytes(2, 8, 4), 4096 + 2 * (8 * 4 * sizeof(float) + 2048));
}

TEST(WorkShares, NoBlockSharesWhereItsShareWouldBeTooShort) {
  EXPECT_EQ(blocks_to_share(264, 100, 132), 0);  // whole
  EXPECT_EQ(blocks_to_share(1, 4000, 132), 132);
  EXPECT_EQ(blocks_to_share(1, 80, 132), 10);
  EXPECT_EQ(blocks_to_share(100, 8, 132), 0);
  EXPECT_EQ(blocks_to_share(100, 16, 132), 132);
  EXPECT_EQ(blocks_to_share(133, 7, 132), 0);  // all blocks are needed for the whole tiles
  EXPECT_EQ(blocks_to_share(133, 8, 132), 132);
}

}  // namespace
}  // namespace mygemm
