// Unit tests: Configs fit the GPUs that they are made for: threads, shared memory, clusters, grids
// and residency, for every kernel on every known device.
#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using namespace mygemm_tests;

template <class Problem>
class Configs : public testing::Test {};
TYPED_TEST_SUITE(Configs, Problems, OperationName);

bool has_figures(const GemmFigures& figures) {
  // A share of FFMA peak. That of mixed products holds beside the time of splitting.
  const double most = figures.takes == Takes::kMixed ? 22 : figures.takes == Takes::k16Bit ? 16 : 4;
  return figures.efficiency > 0 && figures.efficiency <= most && figures.misaligned >= 1 &&
         figures.transposing >= 1;
}
bool has_figures(const SoftmaxFigures& figures) {
  return figures.efficiency > 0 && figures.efficiency <= 1 && figures.reads >= 1;
}
bool has_figures(const CrossEntropyFigures& figures) {
  return figures.efficiency > 0 && figures.efficiency <= 1 && figures.reads >= 1;
}
bool has_figures(const TransposeFigures& figures) {
  return figures.shares || (figures.efficiency > 0 && figures.efficiency <= 1);
}

TYPED_TEST(Configs, KernelsHaveNamesFiguresAndArchitectures) {
  std::set<std::string> names;
  for (const auto& kernel : kernels_for(TypeParam{})) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " is there twice";
    EXPECT_EQ(kernel.on_host(), std::string(kernel.name).starts_with("host_"));
    EXPECT_TRUE(has_figures(kernel.figures)) << kernel.name;
    EXPECT_NE(kernel.configure, nullptr) << kernel.name;
    EXPECT_LE(kernel.min_cc, kernel.max_cc) << kernel.name;
    if (kernel.on_host()) {
      EXPECT_EQ(kernel.min_cc, 0) << kernel.name;
      EXPECT_NE(kernel.launch, nullptr) << kernel.name;
    } else {
      EXPECT_GE(kernel.min_cc, 75) << kernel.name;
    }
  }
}

void check_fits(const LaunchConfig& config, const DeviceTraits& device) {
  EXPECT_TRUE(config.threads >= 32 && config.threads <= 1024 && config.threads % 32 == 0)
      << config.threads << " threads";
  EXPECT_LE(config.threads, device.sm.threads);
  EXPECT_LE(config.shared_bytes, static_cast<size_t>(device.shared_per_block));
  EXPECT_TRUE(config.blocks >= 0 && config.blocks <= kMostGridBlocks) << config.blocks;
  if (config.cluster_blocks == 0) return;
  // Clusters that share k may have three blocks, or six: as many fit as of the next power of two.
  const int log2 = std::bit_width(static_cast<unsigned>(config.cluster_blocks) - 1);
  ASSERT_LE(log2, 4);
  EXPECT_GE(device.cc, 90);
  EXPECT_GT(device.clusters[log2], 0);
  EXPECT_EQ(config.blocks % config.cluster_blocks, 0);
}

TYPED_TEST(Configs, FitTheirGpus) {
  std::set<std::string> checked;
  for_random_problems<TypeParam>(1, 1000, [&](const auto& problem, const auto& device) {
    if (device.cc == 0) return;
    for (const auto& kernel : kernels_for(problem)) {
      for (const size_t workspace : {size_t{0}, size_t{32} << 20, SIZE_MAX}) {
        const auto config = configured(kernel, problem, device, {workspace, kernel.name});
        if (!config) continue;
        check_fits(*config, device);
        if (testing::Test::HasFailure()) FAIL() << kernel.name << ": " << describe(*config);
        EXPECT_LE(config->workspace_bytes, workspace);
        checked.insert(kernel.name + std::string(" on ") + device.name);
      }
    }
  });
  for (const auto& kernel : kernels_for(TypeParam{})) {
    for (const DeviceTraits& device : known_devices()) {
      if (kernel.on_host() || device.cc < kernel.min_cc || device.cc > kernel.max_cc) continue;
      // Tensor maps of whole matrices exist on Hopper alone.
      if (std::strcmp(kernel.name, "tma") == 0 && device.cc > 90) continue;
      EXPECT_TRUE(checked.contains(kernel.name + std::string(" on ") + device.name))
          << kernel.name << " on " << device.name << " was not checked";
    }
  }
}

// ---- residency ----------------------------------------------------------------------------------

TEST(Residency, IsTheLeastOfWhatTheResourcesAllow) {
  const SmResources sm{65536, 100 * 1024, 1536, 16};
  EXPECT_EQ(residency(sm, 256, 0, 8), 6);             // threads
  EXPECT_EQ(residency(sm, 32, 0, 99), 16);            // blocks
  EXPECT_EQ(residency(sm, 32, 49 * 1024, 8), 2);      // shared memory
  EXPECT_EQ(residency(sm, 32, 49 * 1024 + 1, 8), 1);  // and what the runtime takes of it
  EXPECT_EQ(residency(sm, 32, 99 * 1024 + 1, 8), 0);  // no block fits
  EXPECT_EQ(residency(sm, 128, 1024, 3), 3);          // registers
}

TEST(Residency, ShrinksWithEveryResourceThatABlockTakes) {
  for (const DeviceTraits& device : known_devices()) {
    for (int threads = 32; threads <= 1024; threads *= 2) {
      int previous = 1 << 20;
      for (int shared = 0; shared <= device.shared_per_block; shared += 1000) {
        const int blocks = residency(device.sm, threads, shared, 64);
        EXPECT_LE(blocks, previous);
        EXPECT_LE(blocks, residency(device.sm, threads / 2 + 16, shared, 64));
        EXPECT_LE(blocks * (shared + kReservedSharedBytes), device.sm.shared_bytes);
        EXPECT_LE(blocks * threads, device.sm.threads);
        EXPECT_LE(blocks, device.sm.blocks);
        EXPECT_EQ(residency(device.sm, threads, shared, 1), std::min(1, blocks));
        previous = blocks;
      }
    }
  }
}

int resident(const char* kernel, const char* device) {
  const auto config = configured(gemm_kernel(kernel), gemm(false, false, 1000, 1000, 1000),
                                 *find_device(device), PlanOptions{});
  return config ? config->resident : 0;
}

TEST(Residency, OfAKernelDependsOnTheGpu) {
  EXPECT_EQ(resident("small_32x32", "T4"), 1);
  EXPECT_EQ(resident("small_32x32", "RTX 3090"), 2);
  EXPECT_EQ(resident("small_32x32", "RTX 4090"), 2);
  EXPECT_EQ(resident("small_32x32", "A100"), 4);
  EXPECT_EQ(resident("small_32x32", "H200"), 5);
  EXPECT_EQ(resident("warptiled_128x128", "H200"), 2);
}

// As much as shared memory, threads and registers hold; at least one, which every GPU holds.
TEST(Residency, OfEveryProductKernelFitsItsMultiprocessor) {
  for_random_problems<GemmProblem>(2, 500, [](const auto& problem, const auto& device) {
    for (const GemmKernel& kernel : kernels_for(problem)) {
      const auto config = configured(kernel, problem, device, {SIZE_MAX, kernel.name});
      if (!config || device.cc == 0) continue;
      EXPECT_GE(config->resident, 1) << kernel.name;
      EXPECT_LE(config->resident * config->threads, device.sm.threads) << kernel.name;
      EXPECT_LE(config->resident, device.sm.blocks) << kernel.name;
      if (config->resident == 1) continue;
      EXPECT_LE(
          static_cast<size_t>(config->resident) * (config->shared_bytes + kReservedSharedBytes),
          static_cast<size_t>(device.sm.shared_bytes))
          << kernel.name;
    }
  });
}

}  // namespace
}  // namespace mygemm
