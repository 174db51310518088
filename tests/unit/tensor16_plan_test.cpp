// Unit tests: how tiles of 16-bit operands on tensor cores lie along D, and their clusters.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/plan.h"
#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm_tests {
namespace {

using namespace mygemm;

constexpr size_t kWorkspace = size_t{32} << 20;

const DeviceTraits& h200() { return *find_device("H200"); }

bool has_data_parallel_tiles(const GemmKernel& kernel) {
  const std::string name = kernel.name;
  return name.starts_with("tensor16_") && kernel.figures.order != nullptr &&
         !name.starts_with("tensor16_lines");
}

GemmConfig config_of(const GemmKernel& kernel, const GemmProblem& p) {
  const auto config = configured(kernel, p, h200(), {kWorkspace, kernel.name});
  EXPECT_TRUE(config) << kernel.name;
  return config.value_or(GemmConfig{});
}

// The products of the ops tests.
TEST(Tensor16Plan, TilesThatAreNotSquareLieAlongEitherSideOfD) {
  int tested = 0;
  for (const GemmKernel& kernel : kernels_for(GemmProblem{})) {
    if (!has_data_parallel_tiles(kernel)) continue;
    const GemmConfig tall = config_of(kernel, of_16_bits(gemm(false, false, 240, 8, 8, 45)));
    const GemmConfig wide = config_of(kernel, of_16_bits(gemm(false, false, 8, 260, 8, 45)));
    const bool square = tall.block_m == tall.block_n;
    EXPECT_EQ(tall.transposed, square || tall.block_m < tall.block_n) << kernel.name;
    EXPECT_EQ(wide.transposed, square || wide.block_m > wide.block_n) << kernel.name;
    ++tested;
  }
  EXPECT_EQ(tested, 19);
}

TEST(Tensor16Plan, BlocksOfAClusterCoverItsTile) {
  const GemmProblem p = of_16_bits(gemm(true, false, 5000, 3000, 512));
  int tested = 0;
  for (const GemmKernel& kernel : kernels_for(p)) {
    if (!has_data_parallel_tiles(kernel)) continue;
    const GemmConfig config = config_of(kernel, p);
    const int cluster = std::max(1, config.cluster_blocks);
    EXPECT_EQ(config.blocks % cluster, 0) << kernel.name;
    EXPECT_LE(config.blocks, h200().num_sms) << kernel.name;
    const int64_t rows = config.transposed ? p.n : p.m, columns = config.transposed ? p.m : p.n;
    EXPECT_GE(config.tiles_m * config.block_m, rows) << kernel.name;
    EXPECT_GE(config.tiles_n * config.block_n, columns) << kernel.name;
    tested += cluster > 1;
  }
  EXPECT_EQ(tested, 13);
}

// As under MPS, where the runtime counts no clusters of any size.
TEST(Tensor16Plan, WithoutClustersBlocksAreOnTheirOwn) {
  DeviceTraits device = h200();
  std::fill(std::begin(device.clusters), std::end(device.clusters), 0);
  const GemmProblem p = of_16_bits(gemm(false, false, 4096, 4096, 4096));
  for (const GemmKernel& kernel : kernels_for(p)) {
    if (!has_data_parallel_tiles(kernel)) continue;
    const bool in_clusters = config_of(kernel, p).cluster_blocks > 1;
    const auto config = configured(kernel, p, device, {kWorkspace, kernel.name});
    EXPECT_EQ(config.has_value(), !in_clusters) << kernel.name;
  }
}

}  // namespace
}  // namespace mygemm_tests
