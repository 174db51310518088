// Unit tests: which cluster shares a wide row of a softmax, and what its warps keep where.
#include "kernels/softmax/cluster.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include <gtest/gtest.h>

#include "plan/plan.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;

// The Config of the cluster kernel; slots = 0 where it refuses the problem.
SoftmaxConfig config_of(const SoftmaxProblem& p, const DeviceTraits& device) {
  for (const SoftmaxKernel& kernel : kernels_for(p)) {
    if (std::strcmp(kernel.name, "cluster") != 0) continue;
    SoftmaxConfig config;
    return configure(kernel, p, device, {SIZE_MAX, nullptr}, &config) ? SoftmaxConfig{} : config;
  }
  throw "no cluster kernel";
}

ClusterRing ring_of(const SoftmaxProblem& p, const DeviceTraits& device) {
  return config_of(p, device).ring;
}

TEST(ClusterRing, HoldsEveryRunOfARow) {
  const DeviceTraits& h200 = *find_device("H200");
  for (const int64_t cols : {33000, 50257, 65536, 131072, 262147, 524288, 1000000, 1048576}) {
    for (const int64_t rows : {1, 64, 100000}) {
      const SoftmaxProblem p = softmax(rows, cols);
      const SoftmaxConfig config = config_of(p, h200);
      const WideRows& cut = config.rows;
      const ClusterRing& ring = config.ring;
      const int warps = kClusterWarps << ring.log2_blocks;
      ASSERT_GT(ring.slots, 0) << rows << " x " << cols;
      EXPECT_GE(warps * ring.runs_of_warp, cut.runs);
      for (int warp = 0; warp * ring.runs_of_warp < cut.runs; ++warp) {
        const int64_t first = cut.first_tile(int64_t{warp} * ring.runs_of_warp);
        const int64_t last =
            cut.first_tile(std::min<int64_t>(cut.runs, (int64_t{warp} + 1) * ring.runs_of_warp));
        EXPECT_LE(last - first, ring.tiles);
      }
      EXPECT_LE(ring.tiles, ring.slots + ring.held);
      EXPECT_LE(ring.shared_bytes, h200.shared_per_block);
      EXPECT_EQ(config.blocks % config.cluster_blocks, 0);
      // Clusters with more than two rows each draw them from a counter.
      const int64_t clusters = config.blocks / config.cluster_blocks;
      EXPECT_EQ(config.workspace_bytes, rows > 2 * clusters ? 8u : 0u);
    }
  }
}

// 30 clusters of 4 blocks take three rounds for 64 rows, 66 of 2 take one.
TEST(ClusterRing, FewRowsGetSmallerClustersWhereThatSavesRounds) {
  const DeviceTraits& h200 = *find_device("H200");
  const ClusterRing many = ring_of(softmax(2048, 131072), h200);
  EXPECT_EQ(many.log2_blocks, 2);
  EXPECT_EQ(many.runs_of_warp, 1);
  EXPECT_EQ(many.held, 0);
  const ClusterRing few = ring_of(softmax(64, 131072), h200);
  EXPECT_EQ(few.log2_blocks, 1);
  EXPECT_EQ(few.runs_of_warp, 2);
  EXPECT_GT(few.held, 0);
}

TEST(ClusterRing, ADeviceWithoutTheClustersHasNone) {
  DeviceTraits device = *find_device("H200");
  std::fill(std::begin(device.clusters), std::end(device.clusters), 0);
  EXPECT_EQ(ring_of(softmax(100, 100000), device).slots, 0);
  device.clusters[1] = 60;  // of 2 blocks only
  EXPECT_EQ(ring_of(softmax(100, 100000), device).log2_blocks, 1);
  EXPECT_EQ(ring_of(softmax(100, 500000), device).slots, 0);
}

TEST(ClusterRing, GradientsHoldOneTile) {
  const DeviceTraits& h200 = *find_device("H200");
  EXPECT_EQ(ring_of(softmax_backward(100, 524288), h200).held, 1);
  EXPECT_EQ(ring_of(softmax_backward(100, 1000000), h200).slots, 0);
}

}  // namespace
}  // namespace mygemm
