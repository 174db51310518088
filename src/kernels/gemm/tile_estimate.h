// The estimate of kernels whose blocks compute one block tile each: naive, tiled, small, sliced and
// warp-tiled ones. Pure.
//
// Fitted to 800 products on an H200 by least squares: measured / estimated has a standard deviation
// of 6 to 11 % where a kernel takes up to 1.25 times as long as the fastest, but for tiled.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm::estimate {

// The time of a copy to shared memory, in multiply-adds at FFMA peak.
constexpr double kCopyMultiplyAdds = 2.0;

// Properties of a kernel's blocks that its estimate needs besides its Config and its figures.
struct TileKernel {
  int tiles_per_block = 1;  // computed by its warps at once
  bool quads_of_a = true;   // copies of A, of B, bring four elements each, not one
  bool quads_of_b = true;
  double not_overlapped = kNotOverlapped;
  // Added to the time of an element's store where columns of D are not aligned.
  double misaligned_store_seconds = 0.45e-10;
};

// Stores of a block beside others of its multiprocessor, for each element. H200, sliced_64x64 of
// k = 5: three more blocks than others have take 0.8 us.
constexpr double kPiledElementSeconds = 1e-10;

// Multiply-adds at FFMA peak that take as long as one k of a tile.
template <class Tile>
constexpr double tile_multiply_adds(double efficiency, const TileKernel& kernel) {
  const double copies = Tile::kBlockM * (kernel.quads_of_a ? 0.25 : 1.0) +
                        Tile::kBlockN * (kernel.quads_of_b ? 0.25 : 1.0);
  return Tile::kBlockM * Tile::kBlockN / efficiency + kCopyMultiplyAdds * copies;
}

// Block tiles of the busiest multiprocessor.
inline double tiles_on_sm(double tiles, const DeviceTraits& device) {
  return std::max(1.0, rounded_up(tiles / device.num_sms));
}

// Whether a grid should begin before the one before it has ended, where `resident` tiles of
// tile_seconds each fit a multiprocessor. The blocks of such a grid go where the one before leaves
// room first, and pile up there: a multiprocessor may be full while others have none of them. Where
// that costs more than it saves, the grid begins when the other one has ended. H200, 44 x 15895 x
// 103 in sliced_64x64 (249 blocks, up to four on a multiprocessor): 16.0 us piled up, 13.6 us
// without.
inline bool may_overlap(double tiles, double resident, double tile_seconds,
                        const DeviceTraits& device) {
  const double room = std::max(0.0, resident - tiles_on_sm(tiles, device));
  return 2.0 * tiles <= device.num_sms ||
         room * tile_seconds <= kLaunchSeconds - kOverlappedLaunchSeconds;
}

// Seconds for `tiles` block tiles of depth k on the whole GPU; sets may_overlap. All tiles of a
// multiprocessor share its multiply-adds and its stores; each round of resident blocks has the
// latency of its k steps besides. With launches that depend on may_overlap, estimates were farther
// off.
template <class Tile>
double tile_seconds(GemmConfig* config, const GemmFigures& figures, const TileKernel& kernel,
                    const GemmFacts& facts, double tiles, double k, const DeviceTraits& device) {
  constexpr int kM = Tile::kBlockM, kN = Tile::kBlockN;
  const GemmProblem& p = facts.problem;
  const double k_seconds =
      2.0 * tile_multiply_adds<Tile>(figures.efficiency, kernel) / facts.sm_flops;
  const double resident = config->resident * kernel.tiles_per_block;
  const double on_sm = tiles_on_sm(tiles, device);
  const double rounds = on_sm <= resident ? 1.0 : rounded_up(on_sm / resident);

  // A warp stores 32 rows of a column at once, however few of them are inside.
  const int64_t whole_warps = ceil_div(std::min<int64_t>(kM, p.m), 32) * 32;
  const auto rows = static_cast<double>(std::min<int64_t>(kM, whole_warps));
  const auto columns = static_cast<double>(std::min<int64_t>(kN, p.n));
  const double store_element =
      figures.store_seconds +
      (columns_aligned(p.d, p.batch_count) ? 0.0 : kernel.misaligned_store_seconds);
  const double stores = on_sm * rows * columns * store_element + figures.column_seconds * columns;

  const double steps = rounded_up(k / Tile::kBlockK);
  const double computing = rounds * steps * figures.step_seconds + on_sm * k * k_seconds + stores +
                           (rounds - 1.0) * figures.round_seconds;
  const double l2_bytes = tiles * (kM * facts.a_bytes + kN * facts.b_bytes) * k;
  const double from_l2 = l2_bytes / (device.memory_bandwidth * kL2OverMemory);

  config->may_overlap =
      may_overlap(tiles, resident, k * k_seconds + kPiledElementSeconds * kM * kN, device);
  const double busy = std::max(computing, from_l2), moving = facts.memory_seconds;
  return kOverlappedLaunchSeconds + figures.fill_seconds + cold_seconds(facts, device) +
         std::max(busy, moving) + kernel.not_overlapped * std::min(busy, moving);
}

// The same for tiles of the whole k.
template <class Tile>
double tile_kernel_seconds(GemmConfig* config, const GemmFigures& figures, const TileKernel& kernel,
                           const GemmFacts& facts, const DeviceTraits& device) {
  return tile_seconds<Tile>(config, figures, kernel, facts, filled_tiles(*config, facts.problem),
                            facts.k, device);
}

// The lower bound of both, where up to most_splits blocks share the k of a tile: without stores,
// and with four elements in each copy.
template <class Tile>
constexpr GemmBound tile_bound(const GemmFigures& figures, int most_splits = 1) {
  return {.launches = kOverlappedLaunchSeconds + figures.fill_seconds,
          .per_element = 1.0 / (Tile::kBlockM * Tile::kBlockN),
          .per_long = 1.0 / std::max(Tile::kBlockM, Tile::kBlockN),
          .tile_flops = 2.0 * tile_multiply_adds<Tile>(figures.efficiency, {}),
          .k_seconds = figures.step_seconds / Tile::kBlockK,
          .lone_share = 1.0 / most_splits};
}

}  // namespace mygemm::estimate
