// Unit tests: stream-K, how the k steps of a product's tiles are distributed over blocks, and the
// schedules that the kernels' Configs have.
#include "kernels/gemm/persistent/stream_k.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::configured;
using mygemm_tests::gemm;
using mygemm_tests::gemm_kernel;
using mygemm_tests::Random;

std::vector<WorkItem> items_of(const StreamK& schedule, int block) {
  std::vector<WorkItem> items;
  WorkList list(schedule, block);
  for (WorkItem item; list.next(&item);) items.push_back(item);
  return items;
}

std::vector<StreamK> many_schedules() {
  std::vector<StreamK> all;
  for (const int sms : {2, 7, 132}) {
    for (const int tiles : {1, 2, 5, 66, 131, 132, 133, 140, 300}) {
      for (const int steps : {1, 3, 4, 9, 64, 1000}) {
        all.push_back({tiles, 0, steps, std::min(tiles, sms)});
        const int blocks = stream_k_blocks(tiles, steps, sms);
        if (blocks > 0) all.push_back({tiles, stream_k_tiles(tiles, sms), steps, blocks});
      }
    }
  }
  return all;
}

// Every step of every tile is in one item of one block.
void check_that_items_cover(const StreamK& schedule) {
  const auto steps = static_cast<size_t>(schedule.steps);
  std::vector<int> taken(static_cast<size_t>(schedule.tiles) * steps);
  for (int block = 0; block < schedule.blocks; ++block) {
    for (const WorkItem& item : items_of(schedule, block)) {
      ASSERT_TRUE(0 <= item.tile && item.tile < schedule.tiles);
      ASSERT_TRUE(0 <= item.begin && item.begin < item.end && item.end <= schedule.steps);
      for (int step = item.begin; step < item.end; ++step) {
        ++taken[static_cast<size_t>(item.tile) * steps + static_cast<size_t>(step)];
      }
    }
  }
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), static_cast<int64_t>(taken.size()));
}

// A block's first item alone may leave a tile to later blocks: one that waited before it has
// written its partial tile could wait for a block that waits for it.
void check_that_partial_tiles_come_first(const StreamK& schedule) {
  for (int block = 0; block < schedule.blocks; ++block) {
    const std::vector<WorkItem> items = items_of(schedule, block);
    for (size_t i = 1; i < items.size(); ++i) ASSERT_EQ(items[i].end, schedule.steps);
  }
}

// The blocks from first_block_of() to the one that finishes a tile have all of it, in order.
void check_fixups(const StreamK& schedule) {
  for (int block = 0; block < schedule.blocks; ++block) {
    for (const WorkItem& item : items_of(schedule, block)) {
      if (item.begin == 0 || item.end < schedule.steps) continue;
      int at = 0;  // the end of the items so far
      for (int other = schedule.first_block_of(item.tile); other <= block; ++other) {
        const std::vector<WorkItem> items = items_of(schedule, other);
        const auto part = std::find_if(items.begin(), items.end(),
                                       [&](const WorkItem& x) { return x.tile == item.tile; });
        ASSERT_NE(part, items.end());
        EXPECT_EQ(part->begin, at);
        at = part->end;
      }
      EXPECT_EQ(at, schedule.steps);
    }
  }
}

TEST(StreamK, EveryStepOfEveryTileIsInOneItem) {
  for (const StreamK& schedule : many_schedules()) check_that_items_cover(schedule);
}

TEST(StreamK, PartialTilesComeFirst) {
  for (const StreamK& schedule : many_schedules()) check_that_partial_tiles_come_first(schedule);
}

TEST(StreamK, PartsOfATileAreThoseOfTheBlocksFromTheFirstToTheOneThatFinishesIt) {
  for (const StreamK& schedule : many_schedules()) check_fixups(schedule);
}

TEST(StreamK, RangesAreEquallyLong) {
  for (const StreamK& schedule : many_schedules()) {
    if (schedule.stream_k_tiles == 0) continue;
    const double fair = static_cast<double>(schedule.tiles) * schedule.steps / schedule.blocks;
    for (int block = 0; block < schedule.blocks; ++block) {
      int steps = 0;
      for (const WorkItem& item : items_of(schedule, block)) steps += item.end - item.begin;
      EXPECT_LE(std::abs(steps - fair), 2 * StreamK::kLeastSteps);
    }
  }
}

TEST(StreamK, TilesThatFillTheBlocksStayWhole) {
  EXPECT_EQ(stream_k_tiles(264, 132), 0);
  EXPECT_EQ(stream_k_tiles(72, 132), 72);        // fewer than blocks: all
  EXPECT_EQ(stream_k_tiles(512, 132), 116);      // the last round
  EXPECT_EQ(stream_k_tiles(136, 132), 132 + 4);  // a few would be shared by many blocks
  EXPECT_EQ(stream_k_workspace(2, 8, 4), 4096 + 2 * (8 * 4 * sizeof(float) + 1024));
}

TEST(StreamK, NoBlockTakesARangeThatIsTooShort) {
  EXPECT_EQ(stream_k_blocks(264, 100, 132), 0);  // whole
  EXPECT_EQ(stream_k_blocks(1, 4000, 132), 132);
  EXPECT_EQ(stream_k_blocks(1, 80, 132), 10);
  EXPECT_EQ(stream_k_blocks(100, 8, 132), 0);
  EXPECT_EQ(stream_k_blocks(100, 16, 132), 132);
  EXPECT_EQ(stream_k_blocks(133, 7, 132), 0);  // all blocks are needed for the whole tiles
  EXPECT_EQ(stream_k_blocks(133, 8, 132), 132);
}

// The persistent kernels' Configs for random products, on H200s of random numbers of
// multiprocessors.
TEST(StreamK, SchedulesOfConfigsCoverEveryStepOnce) {
  Random random(11);
  int streamed = 0, whole = 0;
  for (int trial = 0; trial < 400; ++trial) {
    DeviceTraits device = *find_device("H200");
    device.num_sms = static_cast<int>(random.integer(1, 160));
    const auto extent = [&] { return random.integer(1, int64_t{1} << random.integer(1, 12)); };
    const GemmProblem p = gemm(random.integer(0, 1) == 1, random.integer(0, 1) == 1, extent(),
                               extent(), extent(), random.integer(1, 3));
    for (const GemmKernel& kernel : kernels_for(p)) {
      const auto config = configured(kernel, p, device, {SIZE_MAX, kernel.name});
      if (!config || config->schedule.tiles == 0 || config->packed.kernel) continue;
      const StreamK& schedule = config->schedule;
      SCOPED_TRACE(std::string(kernel.name) + ": " + describe(*config));
      EXPECT_EQ(schedule.tiles, config->tiles_m * config->tiles_n * p.batch_count);
      EXPECT_EQ(schedule.steps, ceil_div(p.k, config->block_k));
      EXPECT_EQ(schedule.blocks, config->blocks);
      EXPECT_LE(schedule.blocks, device.num_sms);
      EXPECT_EQ(schedule.stream_k_tiles > 0, config->k_split == KSplit::kStreamK);
      EXPECT_EQ(config->k_split == KSplit::kStreamK,
                std::strstr(kernel.name, "streamk") != nullptr);
      check_that_items_cover(schedule);
      check_that_partial_tiles_come_first(schedule);
      check_fixups(schedule);
      if (config->k_split == KSplit::kStreamK) {
        ++streamed;
        EXPECT_EQ(config->workspace_bytes,
                  stream_k_workspace(device.num_sms, config->block_m, config->block_n));
      } else {
        ++whole;
        EXPECT_EQ(config->workspace_bytes, 0u);
      }
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(streamed, 100);
  EXPECT_GT(whole, 100);
}

}  // namespace
}  // namespace mygemm
