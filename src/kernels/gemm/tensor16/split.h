// Products of 16-bit operands on tensor cores with cluster split-K, for those of few tiles and for
// a thin side: block tiles, configuration and launch. Pure.
//
// A tile has kRows rows of X by kColumns of Y: X is the operand of the one side of D, Y that of the
// other, either way round. The blocks of a cluster share its k, and each finishes its share of the
// results, whose sums it reads from all of them: sums that are sent, as by ClusterSum, would need
// shared memory beside the stages.
#pragma once

#include <limits>

#include "kernels/gemm/tensor16/tensor16.h"

namespace mygemm {

// One block a multiprocessor: two with half the stages each took up to 15 % longer (H200, one side
// of 8 to 256).
template <int kColumns_, int kStages_>
struct Tensor16SplitTile {
  static constexpr int kRows = 128, kColumns = kColumns_, kBlockK = 64;
  static constexpr int kStages = kStages_, kRegisterBlocks = 1;
  static constexpr int kClusterM = 1, kClusterN = 1, kCluster = 1;  // no blocks share copies
  static constexpr bool kFp32Rows = false;
  static constexpr int kConsumerWarps = 8, kThreads = 32 * (kConsumerWarps + 1);
  static constexpr int kLineBytes = 128;
  static constexpr int kStageA = kRows * kLineBytes, kStageB = kColumns * kLineBytes;  // bytes
  // Sums in lines along the contiguous side of D, of X or of Y. Padding: the stores of a warp have
  // no bank conflicts.
  static constexpr int kPitchX = kRows + 4, kPitchY = kColumns + 8;
  static constexpr int kSumBytes =
      4 * (kColumns * kPitchX > kRows * kPitchY ? kColumns * kPitchX : kRows * kPitchY);
  static constexpr int kBarrierBytes = 1024;  // with the padding behind them
  static constexpr int kSharedBytes = kStages * (kStageA + kStageB) + kBarrierBytes;
  static_assert(kSumBytes <= kStages * (kStageA + kStageB), "sums take the place of stages");
};

using Tensor16Split_128x64 = Tensor16SplitTile<64, 8>;
using Tensor16Split_128x128 = Tensor16SplitTile<128, 6>;

namespace tensor16 {

// Figures of the estimate, fitted to 3600 measurements of 258 products, half of them with a side of
// 8 to 256, on an H200: within 16 %. From the launch to the first products; the fill of the stages
// and the exchange of sums, for an element of a tile; bytes a second from L2 to a multiprocessor,
// and the factors of l2_factor(); the share of reads by other column tiles that go to memory again.
constexpr double kSplitFillSeconds = 1.4e-6, kSplitElementSeconds = 2.4e-10;
constexpr double kSplitL2RateOfOne = 97e9, kSplitTwoLines = 1.15, kSplitTwoLinesOfSectors = 1.32;
constexpr double kReadAgain = 0.1;
// Fewest k of a block of a cluster.
constexpr int64_t kLeastKPerBlock = 128;

// How a product is divided into blocks, with an estimate.
struct SplitDivision {
  bool transposed = false;  // X is op(B)
  int splits = 1;
  double seconds = 0;
};

// One way round, with all that does not depend on how many blocks share k.
template <class Tile>
class SplitWay {
 public:
  SplitWay(bool transposed, const GemmFigures& figures, const GemmFacts& facts,
           const DeviceTraits& device)
      : device_(device),
        rows_(transposed ? facts.problem.n : facts.problem.m),
        columns_(transposed ? facts.problem.m : facts.problem.n),
        steps_(ceil_div(facts.problem.k, Tile::kBlockK)) {
    const GemmProblem& p = facts.problem;
    const auto factor = [](const Operand& operand) {
      return l2_factor(operand, kSplitTwoLines, kSplitTwoLinesOfSectors);
    };
    const double of_x = factor(transposed ? p.b : p.a), of_y = factor(transposed ? p.a : p.b);
    const auto tiles_m = static_cast<double>(ceil_div(rows_, Tile::kRows));
    const auto tiles_n = static_cast<double>(ceil_div(columns_, Tile::kColumns));
    const auto batch = static_cast<double>(p.batch_count);
    tiles_ = tiles_m * tiles_n * batch;
    const double lines = static_cast<double>(std::min<int64_t>(rows_, Tile::kRows)) * of_x +
                         static_cast<double>(std::min<int64_t>(columns_, Tile::kColumns)) * of_y;
    step_seconds_ = std::max(
        lines * Tile::kLineBytes / kSplitL2RateOfOne,
        2.0 * Tile::kRows * Tile::kColumns * Tile::kBlockK / (facts.sm_flops * figures.efficiency));
    // The operand of the longer side is read by the tiles along the other one.
    const double readers = rows_ >= columns_ ? tiles_n : tiles_m;
    const double again = facts.a_bytes * facts.k * static_cast<double>(std::max(rows_, columns_)) *
                         (readers - 1.0) * batch;
    moving_ = (facts.memory_seconds + kReadAgain * again / device.memory_bandwidth) * of_x;
  }

  // Half of a tile's rows would be outside D. H200, 4096 x 64 x 4096: 19.1 us, 13.7 us with the
  // longer side as rows.
  bool wastes_rows() const { return rows_ <= Tile::kRows / 2 && rows_ < columns_; }

  double seconds(int splits) const {
    const auto steps = static_cast<double>(ceil_div(steps_, splits));
    const double rounds = estimate::rounded_up(tiles_ / clusters_at_once(device_, splits));
    const double computing =
        rounds * (steps * step_seconds_ + kSplitElementSeconds * Tile::kRows * Tile::kColumns);
    return kOverlappedLaunchSeconds + kSplitFillSeconds + estimate::overlapped(computing, moving_);
  }

 private:
  const DeviceTraits& device_;
  int64_t rows_, columns_, steps_;
  double tiles_, step_seconds_, moving_;
};

// The fastest of both ways round and of all clusters.
template <class Tile>
SplitDivision fastest_division(const GemmFigures& figures, const GemmFacts& facts,
                               const DeviceTraits& device) {
  SplitDivision best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (const bool transposed : {false, true}) {
    const SplitWay<Tile> way(transposed, figures, facts, device);
    if (way.wastes_rows()) continue;
    for (const int splits : {1, 2, 3, 4, 6, 8}) {
      const bool fits =
          facts.problem.k >= kLeastKPerBlock * splits && clusters_at_once(device, splits) > 0;
      if (splits > 1 && !fits) break;
      const double seconds = way.seconds(splits);
      if (seconds < best.seconds) best = {transposed, splits, seconds};
    }
  }
  return best;
}

}  // namespace tensor16

template <class Tile>
const char* configure_tensor16_split(const GemmKernel& kernel, const GemmFacts& facts,
                                     const DeviceTraits& device, const PlanOptions&,
                                     GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (const char* reason = persistent::unfit_for(p)) return reason;
  if (const char* reason = unfit_for_maps(p)) return reason;
  set_block<Tile>(config, device);
  const tensor16::SplitDivision division =
      tensor16::fastest_division<Tile>(kernel.figures, facts, device);
  config->transposed = division.transposed;
  config->block_m = Tile::kRows;
  config->block_n = Tile::kColumns;
  config->block_k = Tile::kBlockK;
  config->tiles_m = ceil_div(config->transposed ? p.n : p.m, Tile::kRows);
  config->tiles_n = ceil_div(config->transposed ? p.m : p.n, Tile::kColumns);
  const int splits = division.splits;
  if (!set_blocks(config, p, splits)) return kTooManyTiles;
  config->splits = splits;
  config->k_per_split = p.k;
  if (splits > 1) {
    config->k_split = KSplit::kCluster;
    config->cluster_blocks = splits;
    config->k_per_split = ceil_div(ceil_div(p.k, Tile::kBlockK), splits) * Tile::kBlockK;
  }
  config->load_a = config->load_b = OperandLoad::kTensorMap;
  config->may_overlap = true;
  config->seconds = division.seconds;
  return nullptr;
}

template <class Tile>
constexpr GemmBound tensor16_split_bound(const GemmFigures& figures) {
  constexpr double kElements = static_cast<double>(Tile::kRows) * Tile::kColumns;
  return {.launches = kOverlappedLaunchSeconds + tensor16::kSplitFillSeconds,
          .tile_fixed = tensor16::kSplitElementSeconds * kElements,
          .least_tiles = 1.0,
          .per_element = 1.0 / kElements,
          .per_long = 1.0 / std::max(Tile::kRows, Tile::kColumns),
          .tile_flops = 2.0 * kElements / figures.efficiency,
          .lone_share = 1.0 / kPortableCluster};
}

namespace cuda {
template <class Tile>
Status launch_gemm_tensor16_split(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
