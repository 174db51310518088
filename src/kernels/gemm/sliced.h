// The sliced-K kernels, for products of a few microseconds: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/cluster_sum.h"
#include "kernels/gemm/tile_estimate.h"

namespace mygemm {

// Block tiles of sliced-K kernels: kGroups groups of warps share the k of a step and add up at the
// end. A lane holds kThreadM rows, 32 apart, of kThreadN neighbouring columns: a warp then stores
// whole lines of D wherever they begin.
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
  static constexpr int kWarpM = 32 * kThreadM, kWarpN = kThreadN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kGroupWarps = kWarpsM * kWarpsN;
  static constexpr int kThreads = 32 * kGroupWarps * kGroups;
  static constexpr int kElements = kBlockM * kBlockN;
  // Blocks of a cluster that may share a tile: more than one where results go through shared
  // memory.
  static constexpr int kMostSplits = kGroups == 1 ? 1 : kPortableCluster;

  // Room for either layout of an operand; see StageLayout in sliced.cuh.
  struct Stage {
    alignas(16) Element a[kBlockM * (kBlockK + 4)];
    alignas(16) Element b[kBlockN * (kBlockK + 4)];
  };
  struct SharedStorage {
    union {
      Stage stages[kStages];
      float sums[kGroups][kBlockN][kBlockM];  // (group, n, m)
    };
    Inbox<kMostSplits == 1 ? 1 : kElements> inbox;
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));

  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kThreadN % 4 == 0 && kGroupDepth % 4 == 0, "products take quads");
};

// For latency: as many groups as one tile can use of a multiprocessor.
using Sliced32x16 = SlicedTile<32, 16, 1, 16, 8, 16, 2, 2>;
// For small k, also with a large D, which is stored straight from registers.
using Sliced32x32 = SlicedTile<32, 32, 1, 8, 1, 64, 2, 4>;
using Sliced64x64 = SlicedTile<64, 64, 2, 16, 1, 32, 2, 4>;

namespace sliced {

// Smallest k of a block of a cluster: below, the addition over the cluster costs what shorter sums
// gain.
constexpr int64_t kLeastKPerSplit = 64;

// The blocks of a cluster that share the k of one tile, as a power of two: as many as reside at
// once. H200: twice as many as have a multiprocessor each take up to 12 % less, and never more.
template <class Tile>
unsigned log2_splits(const GemmProblem& p, const DeviceTraits& device, int resident, double tiles) {
  unsigned log2 = 0;
  while (2 << log2 <= Tile::kMostSplits && clusters_fit(device, resident, log2 + 1, tiles) &&
         p.k >= kLeastKPerSplit << (log2 + 1)) {
    ++log2;
  }
  return log2;
}

}  // namespace sliced

template <class Tile>
const char* configure_sliced(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions&, GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  set_tiles<Tile>(config, p);
  set_block<Tile>(config, device);
  const double tiles = estimate::filled_tiles(*config, p);
  const int64_t splits = int64_t{1}
                         << sliced::log2_splits<Tile>(p, device, config->resident, tiles);
  if (!set_blocks(config, p, splits)) return kTooManyTiles;
  config->splits = splits;
  config->k_per_split = p.k;
  if (splits > 1) {
    config->k_split = KSplit::kCluster;
    config->cluster_blocks = static_cast<int>(splits);
    config->k_per_split = ceil_div(ceil_div(p.k, splits), 4) * 4;
  }
  const double parts = static_cast<double>(splits);
  const double seconds =
      estimate::tile_seconds<Tile>(config, kernel.figures,
                                   {.quads_of_a = columns_aligned(p.a, p.batch_count),
                                    .quads_of_b = columns_aligned(p.b, p.batch_count)},
                                   facts, tiles * parts, facts.k / parts, device);
  config->seconds = seconds + (splits > 1 ? kClusterSeconds : 0.0);
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
