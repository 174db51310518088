// Configuration of the softmax wide_cluster kernel (wide_cluster.cu).
#include "kernels/softmax/cost.h"
#include "kernels/softmax/kernels.h"

namespace mygemm {
namespace {

// How the clusters' warps hold a row, with the time from the first load to the last store of a row
// that is alone.
struct Holding {
  int tiles = 0;  // of a warp, at most; 0: the row does not fit
  int warps = 1;  // of a block
  double row_seconds = 0;
};

// H200, in us, of one row of fp32 and of bf16: a tile a warp, 64 tiles 4.2 and 4.2, 256 tiles 5.3
// and 5.9; a run a warp, 64 tiles 5.1 and 6.5, 256 tiles 5.8 and 7.2, 489 tiles 7.7 and 8.7.
Holding tile_of_warp(const WideRows& rows, bool in_halves, int log2_blocks) {
  const auto tiles = static_cast<double>(rows.tiles);
  const int64_t runs = rows.runs >> log2_blocks;
  const int64_t warps = std::max(runs, (rows.tiles * runs + rows.runs - 1) >> rows.log2_runs());
  if (warps > kWideClusterWarps) return {};
  const double tile_seconds = in_halves ? 9e-9 : 6.8e-9;
  return {1, static_cast<int>(warps), std::max(2.8e-6, 2.2e-6 + tile_seconds * tiles)};
}
Holding run_of_warp(const WideRows& rows, const SoftmaxProblem& p, const RowShape& shape,
                    int log2_blocks) {
  const int warps = rows.runs >> log2_blocks;
  const auto tiles = static_cast<int>(rows.most_tiles_of_run());
  if (shape.widths == Widths::kMixed || shape.layout == Layout::kAny ||
      tiles > run_tiles(p.backward) || warps > kWideClusterWarps) {
    return {};
  }
  const double run_seconds = (shape.widths == Widths::k16Bit ? 0.6e-6 : 0.3e-6) * tiles;
  return {tiles, warps, 2.2e-6 + run_seconds + 4.5e-9 * static_cast<double>(rows.tiles)};
}

}  // namespace

const char* configure_softmax_wide_cluster(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           SoftmaxConfig* config) {
  if (facts.fits_block) return kFitsBlockReason;
  const SoftmaxProblem& p = facts.problem;
  const int log2_blocks = log2_blocks_of_row(device);
  if (device.clusters[log2_blocks] == 0) return kNoClusterReason;
  if (p.rows > kMostGridBlocks >> log2_blocks) return "more blocks than a grid can have";
  const double rate = device.memory_bandwidth * kernel.figures.efficiency;
  const double bytes_seconds = (facts.work.read + facts.work.written) / rate;
  // Clusters fill the GPU by their registers, in rounds. Gradients have no exponentials.
  const auto seconds = [&](const Holding& holding) {
    const int warps_of_sm = holding.tiles == 1 ? 32 : 16;
    const int at_once = device.clusters[log2_blocks] * std::max(1, warps_of_sm / holding.warps);
    // From the launch of a cluster to that of the next one; H200.
    const double cluster_seconds = holding.tiles == 1 ? 0.08e-6 : 0.13e-6;
    return rounded_up(facts.work.rows / at_once) * holding.row_seconds * (p.backward ? 0.75 : 1.0) +
           std::max(bytes_seconds, cluster_seconds * facts.work.rows);
  };
  const Holding tile = tile_of_warp(facts.rows, facts.shape.widths == Widths::k16Bit, log2_blocks);
  const Holding run = run_of_warp(facts.rows, p, facts.shape, log2_blocks);
  if (tile.tiles == 0 && run.tiles == 0) return "a row has more tiles than a cluster's warps hold";
  const bool in_runs = tile.tiles == 0 || (run.tiles > 0 && seconds(run) < seconds(tile));
  const Holding& best = in_runs ? run : tile;
  config->shape = facts.shape;
  config->rows = facts.rows;
  config->held_tiles = best.tiles;
  config->blocks = p.rows << log2_blocks;
  config->cluster_blocks = 1 << log2_blocks;
  config->threads = 32 * best.warps;
  config->shared_bytes = sizeof(WideClusterStorage);
  config->seconds = kLaunchSeconds + seconds(best);
  return nullptr;
}

}  // namespace mygemm
