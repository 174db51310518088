// The sliced-K kernels, for products of a few microseconds: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/cluster_sum.h"
#include "kernels/gemm/tile_estimate.h"

namespace mygemm {

// Block tiles of sliced-K kernels: kGroups groups of warps share the k of a step and add up at the
// end. A lane holds kThreadM x kThreadN results. Of a single group, which stores them straight from
// registers, the lanes of a warp are neighbouring rows: a warp then stores whole lines of D
// wherever they begin. Several groups add up in shared memory, and have 8 x 4 lanes, which load a
// third to a half of that from the stages.
template <int kBlockM_, int kBlockN_, int kThreadM_, int kThreadN_, int kGroups_, int kGroupDepth_,
          int kStages_, int kRegisterBlocks_>
struct SlicedTile {
  using Element = float;
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kBlockK = kGroups_ * kGroupDepth_;
  static constexpr int kThreadM = kThreadM_, kThreadN = kThreadN_;
  static constexpr int kGroups = kGroups_, kGroupDepth = kGroupDepth_;
  static constexpr const SumOrder* kOrder = kGroups == 1 ? &kChainOrder : nullptr;
  static constexpr int kStages = kStages_;
  static constexpr int kRegisterBlocks = kRegisterBlocks_;
  static constexpr int kLanesM = kGroups == 1 ? 32 : 8, kLanesN = 32 / kLanesM;
  static constexpr int kWarpM = kLanesM * kThreadM, kWarpN = kLanesN * kThreadN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kGroupWarps = kWarpsM * kWarpsN;
  static constexpr int kThreads = 32 * kGroupWarps * kGroups;
  static constexpr int kElements = kBlockM * kBlockN;
  // Blocks of a cluster that may share a tile: more than one where results go through shared
  // memory.
  static constexpr int kMostSplits = kGroups == 1 ? 1 : kMostCluster;

  // Room for either layout of an operand; see StageLayout in sliced.cuh.
  struct Stage {
    alignas(16) Element a[kBlockM * (kBlockK + 4)];
    alignas(16) Element b[kBlockN * (kBlockK + 4)];
  };
  static constexpr int kMostSumPitch = kBlockM + 8;  // LanePlace in sliced.cuh
  struct SharedStorage {
    union {
      Stage stages[kStages];
      alignas(16) float sums[kGroups][kBlockN * kMostSumPitch];  // (group, n, m)
    };
    Inbox<kMostSplits == 1 ? 1 : kElements> inbox;
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));

  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kThreadN % 4 == 0 && kGroupDepth % 4 == 0, "products take quads");
};

// For latency: as many groups as one tile can use of a multiprocessor.
using Sliced32x16 = SlicedTile<32, 16, 4, 4, 8, 16, 2, 3>;
// For small k, also with a large D, which is stored straight from registers.
using Sliced32x32 = SlicedTile<32, 32, 1, 8, 1, 64, 2, 4>;
using Sliced64x64 = SlicedTile<64, 64, 2, 16, 1, 32, 2, 4>;

namespace sliced {

// Time of the addition over a cluster. H200, products of 2 to 500 us.
constexpr double kAdditionSeconds = 0.24e-6;

// Lanes are neighbouring rows: a warp stores whole lines wherever columns of D begin.
constexpr double kMisalignedStoreSeconds = 0.3e-10;

// Smallest k of a block of a cluster: below, the addition over the cluster costs what shorter sums
// gain.
constexpr int64_t kLeastKPerSplit = 64;

// The blocks of a cluster that share the k of one tile, as a power of two: as many as reside at
// once. H200: 128 x 128 x 8192 by 256 blocks takes 21 us, by 128 blocks, one a multiprocessor, 28.
template <class Tile>
unsigned log2_splits(const GemmProblem& p, const DeviceTraits& device, int resident, double tiles) {
  unsigned log2 = 0;
  while (2 << log2 <= Tile::kMostSplits &&
         clusters_fit(device, resident, log2 + 1, tiles, Tile::kMostSplits) &&
         p.k >= kLeastKPerSplit << (log2 + 1)) {
    ++log2;
  }
  return log2;
}

// The least residency with which so many clusters run at once.
template <class Tile>
int least_resident(const DeviceTraits& device, unsigned log2_splits, double clusters) {
  int resident = 1;
  while (!clusters_fit(device, resident, log2_splits, clusters, Tile::kMostSplits)) ++resident;
  return resident;
}

}  // namespace sliced

template <class Tile>
const char* configure_sliced(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions&, GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  set_tiles<Tile>(config, p);
  set_block<Tile>(config, device);
  const double tiles = estimate::filled_tiles(*config, p);
  const unsigned log2_splits = sliced::log2_splits<Tile>(p, device, config->resident, tiles);
  const int64_t splits = int64_t{1} << log2_splits;
  if (!set_blocks(config, p, splits)) return kTooManyTiles;
  config->splits = splits;
  config->k_per_split = p.k;
  double blocks = tiles * static_cast<double>(splits);
  if (splits > 1) {
    config->k_split = KSplit::kCluster;
    config->cluster_blocks = static_cast<int>(splits);
    config->k_per_split = ceil_div(ceil_div(p.k, splits), 4) * 4;
    config->resident = sliced::least_resident<Tile>(device, log2_splits, tiles);
    config->shared_bytes = bytes_of_just(config->resident, config->shared_bytes, device);
    // Clusters do not reach all multiprocessors: the busiest one has as many blocks as reside.
    blocks = std::max(blocks, (config->resident - 1.0) * device.num_sms + 1.0);
  }
  const double seconds =
      estimate::tile_seconds<Tile>(config, kernel.figures,
                                   {.quads_of_a = columns_aligned(p.a, p.batch_count),
                                    .quads_of_b = columns_aligned(p.b, p.batch_count),
                                    .misaligned_store_seconds = sliced::kMisalignedStoreSeconds},
                                   facts, blocks, facts.k / static_cast<double>(splits), device);
  config->seconds = seconds + (splits > 1 ? sliced::kAdditionSeconds : 0.0);
  return nullptr;
}

template <class Tile>
constexpr GemmBound sliced_bound(const GemmFigures& figures) {
  return estimate::tile_bound<Tile>(figures, Tile::kMostSplits);
}

namespace cuda {
template <class Tile>
Status launch_gemm_sliced(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
