// The estimate of kernels whose blocks compute one block tile each: naive, tiled, small, sliced and
// warp-tiled ones. Pure.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm::estimate {

// Factor of the first loads' and the last stores' time where nothing is aligned.
constexpr double kMisalignedFill = 2.0;
// Fixed overhead of every round of blocks after the first.
constexpr double kRoundSeconds = 1.2e-6;
// Fixed overhead of a block where several share a multiprocessor.
constexpr double kBlockSeconds = 0.3e-6;

// Properties of a kernel's blocks that its estimate needs besides its Config and its figures.
struct TileKernel {
  int tiles_per_block = 1;   // computed by its warps at once
  double fill_steps = 0;     // fixed overhead of a block, in k steps
  bool part_steps = false;   // the last k step takes no longer than its k
  double store_element = 0;  // seconds of stores for each element of a multiprocessor's tiles
  double overhead = 1.0;     // of kRoundSeconds and kBlockSeconds: at most 1
  double step_factor = 1.0;  // of the time of a k step: at least 1, for tile_bound() leaves it out
};

// Stores of a block beside others of its multiprocessor, for each element. H200, sliced_64x64 of
// k = 5: three more blocks than others have take 0.8 us.
constexpr double kPiledElementSeconds = 1e-10;

// Seconds for `tiles` block tiles of depth k on the whole GPU. A k step of a multiprocessor with r
// tiles takes step_seconds where r = 1, the time at the kernel's efficiency where the
// multiprocessor is full, and is interpolated linearly for other r: within 10 % of measurements
// from 128^3 to 8192^3.
//
// Sets may_overlap. The blocks of a grid that begins early go where the one before leaves room
// first, and pile up there: a multiprocessor may be full while others have none of them. Where that
// costs more than it saves, the grid begins when the other one has ended. H200, 44 x 15895 x 103 in
// sliced_64x64 (249 blocks, up to four on a multiprocessor): 16.0 us piled up, 13.6 us without.
template <class Tile>
double tile_seconds(GemmConfig* config, const GemmFigures& figures, const TileKernel& kernel,
                    const GemmFacts& facts, double tiles, double k, const DeviceTraits& device) {
  constexpr double kStepFlops = 2.0 * Tile::kBlockM * Tile::kBlockN * Tile::kBlockK;
  const double factor = kernel.step_factor * (facts.aligned ? 1.0 : figures.misaligned);
  const double tile_step = kStepFlops / (facts.sm_flops * figures.efficiency) * factor;
  const double step_seconds = figures.step_seconds * factor;
  const double lone = std::max(step_seconds, tile_step);
  const int resident = config->resident * kernel.tiles_per_block;
  const double full = std::max(step_seconds, resident * tile_step);
  const double per_round = static_cast<double>(device.num_sms) * resident;
  // Divisions take most of a plan's time: so none where the quotient is known.
  const double rounds = tiles < per_round ? 0.0 : rounded_down(tiles / per_round);
  const double rest_tiles = tiles - rounds * per_round;
  const double rest = rest_tiles <= device.num_sms ? (rest_tiles > 0 ? 1.0 : 0.0)
                                                   : rounded_up(rest_tiles / device.num_sms);
  const double last = rest > 1   ? lone + (full - lone) * (rest - 1.0) / std::max(1, resident - 1)
                      : rest > 0 ? lone
                                 : 0.0;
  const double steps = kernel.part_steps ? k / Tile::kBlockK : rounded_up(k / Tile::kBlockK);
  const double piled_up = steps * (full - last) + (resident - rest) * kPiledElementSeconds *
                                                      (Tile::kBlockM * Tile::kBlockN);
  config->may_overlap = rounds > 0 || 2.0 * tiles <= device.num_sms ||
                        piled_up <= kLaunchSeconds - kOverlappedLaunchSeconds;
  const double fill = kernel.fill_steps *
                      (kernel.part_steps ? figures.step_seconds : step_seconds) *
                      (facts.aligned || kernel.part_steps ? 1.0 : kMisalignedFill);
  const double more_tiles =
      rest > kernel.tiles_per_block ? rest / kernel.tiles_per_block - 1.0 : 0.0;
  const double stores =
      (rounds * resident + rest) * kernel.store_element * (Tile::kBlockM * Tile::kBlockN);
  const double begin =
      kernel.overhead * (rounds * kRoundSeconds + more_tiles * kBlockSeconds) + stores;
  const double computing = fill + begin + steps * (rounds * full + last);
  const double l2_bytes =
      tiles * (Tile::kBlockM * facts.a_bytes + Tile::kBlockN * facts.b_bytes) * k;
  const double l2_rate = device.memory_bandwidth * kL2OverMemory;
  return l2_bytes <= computing * l2_rate ? computing : std::max(computing, l2_bytes / l2_rate);
}

// The same for tiles of the whole k, overlapped with the transfers of memory, launch included.
template <class Tile>
double tile_kernel_seconds(GemmConfig* config, const GemmFigures& figures, const TileKernel& kernel,
                           const GemmFacts& facts, const DeviceTraits& device) {
  const double computing = tile_seconds<Tile>(
      config, figures, kernel, facts, filled_tiles(*config, facts.problem), facts.k, device);
  return launch_seconds(*config) + overlapped(computing, facts.memory_seconds);
}

// The lower bound of both, where up to most_splits blocks share the k of a tile. A k step takes at
// least step_seconds, and r tiles of a multiprocessor at least r times their time at the kernel's
// efficiency. Of the fixed overhead of rounds and blocks each tile has at least its part of a full
// round, but for the tiles of the first block.
template <class Tile>
constexpr GemmBound tile_bound(const GemmFigures& figures, const TileKernel& kernel,
                               int most_splits = 1) {
  const int tiles = kernel.tiles_per_block, most_tiles = Tile::kRegisterBlocks * tiles;
  const double tile_fixed =
      kernel.overhead * std::min(kRoundSeconds / most_tiles, kBlockSeconds / tiles);
  return {.launches = kOverlappedLaunchSeconds,
          .fill = kernel.fill_steps * figures.step_seconds - tiles * tile_fixed,
          .tile_fixed = tile_fixed,
          .least_tiles = static_cast<double>(tiles),
          .per_element = 1.0 / (Tile::kBlockM * Tile::kBlockN),
          .per_long = 1.0 / std::max(Tile::kBlockM, Tile::kBlockN),
          .tile_flops = 2.0 * Tile::kBlockM * Tile::kBlockN / figures.efficiency,
          .k_seconds = figures.step_seconds / Tile::kBlockK,
          .lone_share = 1.0 / most_splits};
}

}  // namespace mygemm::estimate
