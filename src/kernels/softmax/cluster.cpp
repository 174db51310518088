// Configuration of the softmax cluster kernel (cluster.cu): the size of the clusters, and what the
// warps of one hold in shared memory and registers.
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {
namespace {

int64_t clusters_at_once(const SoftmaxProblem& p, const ClusterRing& ring,
                         const DeviceTraits& device) {
  return std::min<int64_t>(p.rows, device.clusters[ring.log2_blocks]);
}

// The members of a ring that do not depend on the size of the cluster; `slots` of a warp are as
// many as a block's shared memory has room for.
ClusterRing ring_of_block(const SoftmaxProblem& p, const RowShape& shape,
                          const DeviceTraits& device) {
  const int64_t columns = int64_t{32} * tile_packs(Fp32Packs::kPack) * pack_of(shape.widths);
  const auto tile_bytes = [columns](const TypedMatrix& matrix) {
    return static_cast<int>(columns * element_bytes(matrix.type));
  };
  constexpr int kStorageBytes = static_cast<int>(sizeof(ClusterStorage));
  ClusterRing ring{};
  ring.tile_bytes_in = tile_bytes(p.in);
  ring.slot_bytes = ring.tile_bytes_in + (p.backward ? tile_bytes(p.dy) : 0);
  // A slot of every warp, with its barrier and the lanes' maxima.
  const int slot_of_all = kClusterWarps * (ring.slot_bytes + 8 + 4 * 32);
  ring.slots = std::max(0, device.shared_per_block - kStorageBytes) / slot_of_all;
  ring.shared_bytes = kStorageBytes + ring.slots * slot_of_all;
  return ring;
}

// The ring in a cluster of 2^log2_blocks blocks; slots = 0 where no row fits.
ClusterRing ring_of_cluster(ClusterRing ring, const SoftmaxProblem& p, const RowShape& shape,
                            const WideRows& rows, int log2_blocks) {
  ring.log2_blocks = log2_blocks;
  ring.runs_of_warp = std::max(1, rows.runs / kClusterWarps >> log2_blocks);
  const int64_t tiles =
      std::min((rows.tiles * ring.runs_of_warp + rows.runs - 1) >> rows.log2_runs(), rows.tiles);
  ring.tiles = static_cast<int>(std::min<int64_t>(tiles, INT32_MAX));
  ring.held = ring.tiles > ring.slots ? held_tiles(shape.widths, p.backward) : 0;
  if (ring.runs_of_warp > kMostRunsOfWarp || ring.tiles > ring.slots + ring.held) ring.slots = 0;
  return ring;
}

// Time of running clusters, measured on an H200: that of the slowest warp, for each row and each of
// the row's tiles, or the memory bandwidth. Tiles held in registers are not replaced while the
// others are worked on, hence the lower efficiency.
double cluster_seconds(const SoftmaxProblem& p, const RowShape& shape, const ClusterRing& ring,
                       double bytes, const DeviceTraits& device) {
  constexpr double kRowSeconds = 1.4e-6, kBlockSeconds = 0.06e-6;
  constexpr double kEfficiency = 0.965, kHeldEfficiency = 0.93;
  const double tile_seconds = !p.backward && shape.widths == Widths::k16Bit ? 1.7e-6 : 1.25e-6;
  const auto clusters = std::max<int64_t>(1, clusters_at_once(p, ring, device));
  const auto rounds = static_cast<double>(ceil_div(p.rows, clusters));
  return std::max(
      rounds * (kRowSeconds + kBlockSeconds * (1 << ring.log2_blocks) + tile_seconds * ring.tiles),
      bytes / (device.memory_bandwidth * (ring.held > 0 ? kHeldEfficiency : kEfficiency)));
}

}  // namespace

const char* configure_softmax_cluster(const SoftmaxKernel&, const SoftmaxFacts& facts,
                                      const DeviceTraits& device, const PlanOptions& options,
                                      SoftmaxConfig* config) {
  if (facts.fits_block) return kFitsBlockReason;
  const SoftmaxProblem& p = facts.problem;
  const RowShape& shape = facts.shape;
  const WideRows& rows = facts.rows;
  if (!bulk_copies_fit(p, shape)) return kNotAlikeReason;
  const ClusterRing of_block = ring_of_block(p, shape, device);
  const double bytes = static_cast<double>(p.rows) * static_cast<double>(p.cols) *
                       static_cast<double>(element_bytes(p.in.type) + element_bytes(p.out.type) +
                                           (p.backward ? element_bytes(p.dy.type) : 0));
  ClusterRing best{};
  double least = 0.0;
  for (int log2_blocks = 0; log2_blocks <= kMostLog2Blocks; ++log2_blocks) {
    const ClusterRing ring = ring_of_cluster(of_block, p, shape, rows, log2_blocks);
    if (ring.slots == 0 || device.clusters[log2_blocks] == 0) continue;
    const double seconds = cluster_seconds(p, shape, ring, bytes, device);
    if (best.slots == 0 || seconds < least) {
      best = ring;
      least = seconds;
    }
    if (ring.runs_of_warp == 1) break;  // more blocks would have nothing to do
  }
  if (best.slots == 0) return "a row has more columns than a cluster that can run here holds";

  // Clusters draw rows from a counter in the workspace, where that makes a difference.
  const int64_t clusters = clusters_at_once(p, best, device);
  const bool draws = p.rows > 2 * clusters;
  constexpr size_t kCounterBytes = sizeof(uint64_t);
  // The first row has to be read before anything can be written.
  constexpr double kFirstSeconds = 3.5e-6;
  config->shape = shape;
  config->rows = rows;
  config->ring = best;
  config->blocks = clusters << best.log2_blocks;
  config->threads = kClusterThreads;
  config->cluster_blocks = 1 << best.log2_blocks;
  config->shared_bytes = static_cast<size_t>(best.shared_bytes);
  config->workspace_bytes = draws && options.workspace_bytes >= kCounterBytes ? kCounterBytes : 0;
  config->seconds = kLaunchSeconds + (draws ? kLaunchSeconds : 0.0) + kFirstSeconds + least;
  return nullptr;
}

}  // namespace mygemm
