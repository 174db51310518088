// Configuration of the cross-entropy cluster kernel (cluster.cu): the size of the clusters, and the
// ring of tiles of their warps.
#include "kernels/cross_entropy/cost.h"
#include "kernels/cross_entropy/kernels.h"

namespace mygemm {
namespace {

// A warp has one run; slots = 0 where no cluster has a warp for every run, and slots for its tiles.
ClusterRing ring_of(const CrossEntropyFacts& facts, const DeviceTraits& device) {
  const auto log2 = [](int power) { return std::bit_width(static_cast<unsigned>(power)) - 1; };
  const int pack = wide_pack(facts.shape);
  ClusterRing ring{};
  ring.log2_blocks = log2(facts.rows.runs) - log2(kClusterWarps);
  ring.runs_of_warp = 1;
  ring.slot_bytes = ring.tile_bytes_in =
      static_cast<int>(32 * tile_packs(pack) * pack * element_bytes(facts.problem.x.type));
  constexpr int kStorageBytes = static_cast<int>(sizeof(LossStorage));
  // With its barrier and the lanes' maxima.
  const int slot_of_all = kClusterWarps * (ring.slot_bytes + 8 + 4 * 32);
  ring.slots = std::max(0, device.shared_per_block - kStorageBytes) / slot_of_all;
  ring.shared_bytes = kStorageBytes + ring.slots * slot_of_all;
  const int64_t tiles = facts.rows.most_tiles_of_run();
  if (ring.log2_blocks > kMostLog2Blocks || tiles > ring.slots) ring.slots = 0;
  ring.tiles = static_cast<int>(std::min<int64_t>(tiles, INT32_MAX));
  return ring;
}

}  // namespace

const char* configure_cross_entropy_cluster(const CrossEntropyKernel& kernel,
                                            const CrossEntropyFacts& facts,
                                            const DeviceTraits& device, const PlanOptions& options,
                                            CrossEntropyConfig* config) {
  if (facts.narrow()) return kNarrowReason;
  if (!bulk_copies_fit(facts.softmax, facts.shape)) return kNotAlikeReason;
  const ClusterRing ring = ring_of(facts, device);
  if (ring.slots == 0) return "a row has more columns than a cluster's shared memory holds";
  const int64_t at_once = device.clusters[ring.log2_blocks];
  if (at_once == 0) return "this GPU has no clusters of as many blocks";
  const int64_t rows = facts.problem.rows;
  if (rows > INT32_MAX / 2) return "more rows than the kernel counts";
  const int64_t clusters = std::min(rows, at_once);

  // Clusters draw rows from a counter in the workspace, where that makes a difference.
  const bool draws = rows > 2 * clusters;
  constexpr size_t kCounterBytes = sizeof(uint32_t);
  constexpr double kFirstSeconds = 3.5e-6, kRowSeconds = 1.9e-6, kTileSeconds = 0.9e-6;
  const double rounds = rounded_up(facts.work.rows / static_cast<double>(at_once));
  const double bytes = facts.work.read + facts.work.written;
  config->shape = facts.shape;
  config->rows = facts.rows;
  config->ring = ring;
  config->blocks = clusters << ring.log2_blocks;
  config->threads = kClusterThreads;
  config->cluster_blocks = 1 << ring.log2_blocks;
  config->shared_bytes = static_cast<size_t>(ring.shared_bytes);
  config->workspace_bytes = draws && options.workspace_bytes >= kCounterBytes ? kCounterBytes : 0;
  config->seconds = kLaunchSeconds + (draws ? kLaunchSeconds : 0.0) + kFirstSeconds +
                    std::max(rounds * (kRowSeconds + kTileSeconds * ring.tiles),
                             bytes / (device.memory_bandwidth * kernel.figures.efficiency));
  return nullptr;
}

}  // namespace mygemm
