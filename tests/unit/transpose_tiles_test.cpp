// Unit tests: grids of the transpose kernels cover every matrix once, whatever its size, and no
// number of them overflows.
#include <cstring>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/transpose/tiles.h"
#include "kernels/transpose/triangle.h"
#include "plan/plan.h"
#include "problems.h"

namespace mygemm_tests {
namespace {

using mygemm::DeviceTraits;
using mygemm::find_device;
using mygemm::GatheredGrid;
using mygemm::kernels_for;
using mygemm::NarrowGrid;
using mygemm::PatchGrid;
using mygemm::TileOrder;
using mygemm::TransposeConfig;
using mygemm::TransposeKernel;
using mygemm::TransposeProblem;

// The Config of a kernel; that of no grid where it refuses the problem.
TransposeConfig config_of(const char* name, const TransposeProblem& p) {
  for (const TransposeKernel& kernel : kernels_for(p)) {
    if (std::strcmp(kernel.name, name) != 0) continue;
    TransposeConfig config;
    const char* refusal =
        mygemm::configure(kernel, p, *find_device("H200"), {SIZE_MAX, nullptr}, &config);
    return refusal ? TransposeConfig{} : config;
  }
  throw name;
}

// The tiles of one side: the last one begins inside the matrix, and there is none after it.
void check_side(int64_t size, int64_t tiles, int64_t step) {
  if (tiles >= INT32_MAX) return;  // the kernel refuses the problem
  EXPECT_GE(tiles * step, size);
  if (size > 0) {
    EXPECT_LT((tiles - 1) * step, size);
  }
}

TEST(TransposeTiles, CoverTheMatrix) {
  Random random(11);
  const DeviceTraits& h200 = *find_device("H200");
  for (int i = 0; i < 3000; ++i) {
    TransposeProblem p;
    random_problem(random, &p);
    for (const TransposeKernel& kernel : kernels_for(p)) {
      TransposeConfig config;
      if (mygemm::configure(kernel, p, h200, {SIZE_MAX, nullptr}, &config)) continue;
      const PatchGrid& grid = config.patches;
      if (grid.threads == 0) continue;
      if (grid.order == TileOrder::kTwoStreams) {
        EXPECT_EQ(grid.tiles_c % 2, 0u) << kernel.name;
      }
      check_side(p.rows, grid.tiles_r, grid.step_r);
      if (grid.order != TileOrder::kTwoStreams) check_side(p.cols, grid.tiles_c, grid.step_c);
      EXPECT_TRUE(config.threads % 32 == 0 && config.threads <= 512) << kernel.name;
      EXPECT_LE(grid.shared_bytes, 65536u) << kernel.name;
      const int64_t pack = 16 / p.element_size;
      EXPECT_LE(grid.step_r, pack << grid.tile.log2_rows) << kernel.name;
      EXPECT_LE(grid.step_c, pack << grid.tile.log2_cols) << kernel.name;
      EXPECT_GE(config.blocks, 0) << kernel.name;
    }
  }
}

TEST(TransposeTiles, FillTheGpuAndFitNarrowMatrices) {
  const DeviceTraits& h200 = *find_device("H200");
  const auto vector_grid = [](const TransposeProblem& p) { return config_of("vector", p).patches; };
  EXPECT_EQ(vector_grid(transpose(4, 8192, 8192)).step_r, 64);
  EXPECT_EQ(vector_grid(transpose(4, 8192, 8192)).step_c, 64);
  EXPECT_GE(vector_grid(transpose(4, 1024, 1024)).blocks, 8 * h200.num_sms);
  const PatchGrid wide = vector_grid(transpose(4, 4, 1 << 24));
  EXPECT_EQ(wide.step_r, 4);
  EXPECT_EQ(wide.step_c, 1024);
  const PatchGrid batch = vector_grid(transpose(4, 16, 16, 100000));
  EXPECT_EQ(batch.tile.log2_matrices, 4);
  EXPECT_EQ(batch.blocks, 6250);
}

TEST(TransposeTiles, OverlapWhereRowsAreShifted) {
  const PatchGrid output = config_of("shifted", transpose(4, 8193, 8192)).patches;
  EXPECT_EQ(output.step_c, 4 << output.tile.log2_cols);
  EXPECT_EQ(output.step_r, (4 << output.tile.log2_rows) - 8);
  const auto gathered_grid = [](int64_t rows, int64_t cols) {
    return config_of("gathered", transpose(4, rows, cols)).gathered;
  };
  EXPECT_EQ(gathered_grid(8192, 8193).rows, gathered_grid(8192, 8193).step_r);
  EXPECT_EQ(gathered_grid(8193, 8193).rows, gathered_grid(8193, 8193).step_r + 8);
}

// Rows of a tile in shared memory do not overlap, lie at addresses congruent to those of the
// matrix's rows modulo 16, and kPackElements of them are an odd number of packs, so that 8 lanes
// read in different banks; but in runs, where lanes read in any order.
TEST(TransposeTiles, GatheredTilesCoverTheMatrixWithoutBankConflicts) {
  Random random(13);
  int checked = 0;
  for (int i = 0; i < 3000; ++i) {
    TransposeProblem p;
    random_problem(random, &p);
    for (const char* name : {"gathered", "gathered_runs", "gathered_in_place"}) {
      const TransposeConfig config = config_of(name, p);
      const GatheredGrid& grid = config.gathered;
      if (grid.packs == 0) continue;
      ++checked;
      const bool runs = std::strcmp(name, "gathered_runs") == 0;
      check_side(p.rows, grid.tiles_r, grid.step_r);
      if (grid.order != TileOrder::kTwoStreams) check_side(p.cols, grid.tiles_c, grid.step_c);
      EXPECT_TRUE(config.threads % 128 == 0 && config.threads <= 512) << name;
      EXPECT_LE(grid.packs, config.threads) << name;
      EXPECT_GE(grid.pitch, 16 * grid.packs) << name;
      EXPECT_EQ((grid.pitch - p.ldin % 16 * p.element_size) % 16, 0) << name;
      const int64_t pack = 16 / p.element_size;
      const int skew = grid.skewed && !runs ? mygemm::kGatherSkew : 0;
      if (!runs) {
        EXPECT_EQ((pack * grid.pitch + skew) % 32, 16) << name;
      }
      const int64_t rows = grid.rows;
      EXPECT_GE(static_cast<int64_t>(grid.tile_bytes),
                15 + (rows - 1) * grid.pitch + (rows - 1) / pack * skew + 16 * grid.packs)
          << name;
      EXPECT_GE(config.blocks, 0) << name;
    }
  }
  EXPECT_GT(checked, 500);
}

TEST(TransposeTiles, PairsAreTheLowerTriangle) {
  for (unsigned tiles = 0; tiles < 40; ++tiles) {
    std::set<std::pair<unsigned, unsigned>> pairs;
    for (unsigned i = 0; i < mygemm::tile_pairs(tiles); ++i) {
      const auto [row, col] = mygemm::tile_pair(i, tiles);
      EXPECT_TRUE(col <= row && row < tiles) << row << ", " << col << " of " << tiles;
      EXPECT_TRUE(pairs.insert({row, col}).second) << row << ", " << col << " twice";
    }
  }
}

TEST(TransposeTiles, RunsOfNarrowMatrices) {
  Random random(12);
  for (int i = 0; i < 3000; ++i) {
    TransposeProblem p;
    random_problem(random, &p);
    const TransposeConfig config = config_of("narrow", p);
    const NarrowGrid& grid = config.narrow;
    if (grid.length == 0) continue;
    EXPECT_GT(grid.matrices, 0);
    EXPECT_LE(grid.shared_bytes, 49152u);
    EXPECT_GE(config.blocks, p.batch_count > 0 ? 1 : 0);
  }
  const auto narrow_grid = [](const TransposeProblem& p) { return config_of("narrow", p).narrow; };
  EXPECT_EQ(narrow_grid(transpose(4, 3, 1 << 24)).side, NarrowGrid::Side::kOutputRuns);
  EXPECT_EQ(narrow_grid(transpose(4, 1 << 24, 5)).side, NarrowGrid::Side::kInputRuns);
  EXPECT_EQ(narrow_grid(transpose(4, 17, 17, 1000)).side, NarrowGrid::Side::kSmall);
  EXPECT_EQ(narrow_grid(transpose(4, 17, 17, 1000)).matrices, 14);
  EXPECT_EQ(narrow_grid(transpose(4, 1000, 1000)).length, 0);
}

}  // namespace
}  // namespace mygemm_tests
