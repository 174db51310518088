// The TMA-fed kernels for short sums, which store results beside the next products: tiles,
// configuration, launch. Pure.
#pragma once

#include "kernels/gemm/tma/tma.h"

namespace mygemm {

// Tiles whose results wait in shared memory, from which the consumer warps store them while they
// multiply the next tile. k steps of 8, for little room is left for stages.
template <int kBlockM_, int kBlockN_, int kWarpM_, int kWarpN_, int kThreadM_, int kThreadN_,
          int kStages_>
struct ShortTile
    : TmaTile<kBlockM_, kBlockN_, 8, kWarpM_, kWarpN_, kThreadM_, kThreadN_, 1, kStages_> {
  // Parts of a warp tile, of 32 rows and 16 columns, one of which is stored beside a k step.
  static constexpr int kUnits = kWarpM_ / 32 * (kWarpN_ / 16);
  static constexpr int kSharedBytes =
      4 * (kStages_ * 8 * (kBlockM_ + kBlockN_ + 8) + kBlockM_ * kBlockN_) + kStages_ * 16 + 256;
};

using Short256x128 = ShortTile<256, 128, 64, 64, 16, 8, 8>;
using Short128x128 = ShortTile<128, 128, 64, 32, 8, 8, 12>;

namespace tma {

// With more k, the other TMA-fed kernels are as fast or faster.
constexpr int64_t kShortMostK = 512;

// Time that is not overlapped, for each element of a tile: of results on their way, more where
// columns of D do not begin at whole sectors of memory or at 16 bytes, and of the units of a warp
// tile for which there are too few k steps. Fitted to 217 products of k up to 512 on an H200:
// estimates differ from them by 9 % (root mean square).
constexpr double kShortElementSeconds = 4.4e-11;
constexpr double kShortPartSectorSeconds = 3.7e-11, kShortMisalignedSeconds = 7.5e-11;
constexpr double kShortUnitElementSeconds = 1.8e-11;
// Additional time where D is read.
constexpr double kShortReadSeconds = 1.4e-10;
// From the beginning of the grid to the first products.
constexpr double kShortFillSeconds = 1.2e-6;
// As kTransposingCopy: producer warps have half of a k step for their copies.
constexpr double kShortTransposingCopy = 10;

inline double short_store_seconds(const GemmProblem& p) {
  constexpr int64_t kSector = 32 / sizeof(float);
  if (!columns_aligned(p.d, p.batch_count)) return kShortMisalignedSeconds;
  return p.d.ld % kSector == 0 && reinterpret_cast<uintptr_t>(p.d.data) % 32 == 0
             ? 0.0
             : kShortPartSectorSeconds;
}

template <class Tile>
double short_seconds(const GemmConfig& config, const GemmFigures& figures, const GemmFacts& facts,
                     const DeviceTraits& device) {
  constexpr double kElements = static_cast<double>(Tile::kBlockM) * Tile::kBlockN;
  const GemmProblem& p = facts.problem;
  const double step = 2.0 * kElements * Tile::kBlockK / (facts.sm_flops * figures.efficiency) *
                      step_factor<Tile>(config, kShortTransposingCopy);
  const auto sms = static_cast<unsigned>(device.num_sms);
  const auto rounds = (static_cast<unsigned>(config.schedule.tiles) + sms - 1) / sms;
  const int late_units = std::max(0, Tile::kUnits - config.schedule.steps);
  const double element = kShortElementSeconds + short_store_seconds(p) +
                         (p.epilogue.beta.is(0.0f) ? 0.0 : kShortReadSeconds) +
                         kShortUnitElementSeconds * late_units / Tile::kUnits;
  const double computing = kShortFillSeconds +
                           rounds * (config.schedule.steps * step + kElements * element) +
                           kElements * kShortUnitElementSeconds;
  return kLaunchSeconds + estimate::overlapped(computing, facts.memory_seconds);
}

}  // namespace tma

template <class Tile>
const char* configure_short(const GemmKernel& kernel, const GemmFacts& facts,
                            const DeviceTraits& device, const PlanOptions& options,
                            GemmConfig* config) {
  if (facts.problem.fused || facts.problem.scales_only()) {
    return "something else than alpha * sum + beta * D is stored";
  }
  if (const char* reason = persistent::schedule<Tile>(facts, device, options, false, config)) {
    return reason;
  }
  if (!options.forced && facts.problem.k > tma::kShortMostK) return "k is not short";
  tma::configure_loads(facts.problem, config);
  config->seconds = tma::short_seconds<Tile>(*config, kernel.figures, facts, device);
  return nullptr;
}

template <class Tile>
constexpr GemmBound short_bound(const GemmFigures& figures) {
  GemmBound bound = persistent::bound<Tile>(figures, false, /*least_k=*/1);
  constexpr double kElements = static_cast<double>(Tile::kBlockM) * Tile::kBlockN;
  bound.fill = tma::kShortFillSeconds + kElements * tma::kShortUnitElementSeconds;
  bound.tile_fixed = kElements * tma::kShortElementSeconds;
  return bound;
}

namespace cuda {
template <class Tile>
Status launch_gemm_short(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
