// Configuration of the persistent kernels, whose blocks have a multiprocessor each and compute tile
// after tile: those fed by the tensor memory accelerator (tma/) and those on tensor cores
// (tensor/). Pure.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm::persistent {

// Time to store a tile that is not overlapped, for a tile and for an element.
constexpr double kStoreSeconds = 1.6e-6, kStoreElementSeconds = 1.5e-10;
template <class Tile>
constexpr double store_seconds() {
  return kStoreSeconds + kStoreElementSeconds * Tile::kBlockM * Tile::kBlockN;
}
// Additional time of stream-K tiles, once: the flags, and the memory traffic of partial tiles.
constexpr double kStreamKSeconds = 4.2e-6, kStreamKElementSeconds = 2.3e-10;
template <class Tile>
constexpr double stream_k_seconds() {
  return kStreamKSeconds + kStreamKElementSeconds * Tile::kBlockM * Tile::kBlockN;
}
// Time of the fix-up, for each block that adds to a tile and each element.
constexpr double kFixupElementSeconds = 3e-11;
// The kernels count rows, columns and k with 32 bits, up to a tile past the end.
constexpr int64_t kMostExtent = (int64_t{1} << 31) - 1025;

// The reason why kernels that count so, by k steps, cannot compute the product.
inline const char* unfit_for(const GemmProblem& p) {
  if (p.scales_only()) return "nothing is read of A and B";
  if (std::max({p.m, p.n, p.k}) > kMostExtent) return "m, n or k of 2^31 - 1024 and more";
  return nullptr;
}

// Sets the tiles and the schedule, with all tiles data-parallel or with stream-K; returns the
// reason where the kernel cannot run.
template <class Tile>
const char* schedule(const GemmFacts& facts, const DeviceTraits& device, const PlanOptions& options,
                     bool stream_k, GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (const char* reason = unfit_for(p)) return reason;
  config->block_m = Tile::kBlockM;
  config->block_n = Tile::kBlockN;
  config->block_k = Tile::kBlockK;
  // D^T has the tiles of the transposed product.
  config->tiles_m = ceil_div(config->transposed ? p.n : p.m, Tile::kBlockM);
  config->tiles_n = ceil_div(config->transposed ? p.m : p.n, Tile::kBlockN);
  if (!set_blocks(config, p, 1)) return kTooManyTiles;
  const auto tiles = static_cast<int>(config->blocks);
  const auto steps = static_cast<int>(ceil_div(p.k, Tile::kBlockK));
  const int sms = device.num_sms;
  config->threads = Tile::kThreads;
  config->shared_bytes = Tile::kSharedBytes;
  config->resident = 1;
  config->may_overlap = true;
  config->schedule = {tiles, 0, steps, std::min(tiles, sms)};
  if (stream_k) {
    if (sms > StreamKFlags::kMostBlocks) return "more multiprocessors than there are flags";
    if (2.0 * sms * steps > 2147483647.0) return "too many k steps to count";
    const int blocks = stream_k_blocks(tiles, steps, sms);
    if (blocks == 0) return "whole tiles fill the GPU, or k is too short for stream-K";
    config->workspace_bytes = stream_k_workspace(sms, Tile::kBlockM, Tile::kBlockN);
    if (options.workspace_bytes < config->workspace_bytes) return "the workspace is too small";
    config->k_split = KSplit::kStreamK;
    config->schedule.stream_k_tiles = stream_k_tiles(tiles, sms);
    config->schedule.blocks = blocks;
  }
  config->blocks = config->schedule.blocks;
  return nullptr;
}

// Estimated seconds: as many rounds of whole tiles as it takes, or equal ranges of all k steps.
// store: time of a tile's store that is not overlapped.
// H200, 250 shapes: measured times differ from it by 4 to 12 %.
template <class Tile>
double seconds(const GemmConfig& config, const GemmFigures& figures, double step_factor,
               const GemmFacts& facts, const DeviceTraits& device,
               double store = store_seconds<Tile>()) {
  constexpr double kElements = static_cast<double>(Tile::kBlockM) * Tile::kBlockN;
  const double step =
      2.0 * kElements * Tile::kBlockK / (facts.sm_flops * figures.efficiency) * step_factor;
  const double tiles = config.schedule.tiles, steps = config.schedule.steps;
  const double l2_bytes =
      tiles * (Tile::kBlockM + Tile::kBlockN) * steps * Tile::kBlockK * facts.a_bytes;
  double computing;
  if (config.k_split == KSplit::kStreamK) {
    // Tiles of a block; at least the shortest range.
    const double share =
        std::max(tiles / device.num_sms, std::min(1.0, StreamK::kLeastRange / steps));
    computing = share * steps * step + std::max(1.0, share) * store + stream_k_seconds<Tile>() +
                std::max(1.0, 1.0 / share) * kFixupElementSeconds * kElements;
  } else {
    const auto rounds =
        (static_cast<unsigned>(config.schedule.tiles) + static_cast<unsigned>(device.num_sms) - 1) /
        static_cast<unsigned>(device.num_sms);
    computing = rounds * (steps * step + store);
  }
  const double l2_rate = device.memory_bandwidth * estimate::kL2OverMemory;
  if (l2_bytes > computing * l2_rate) computing = std::max(computing, l2_bytes / l2_rate);
  return kLaunchSeconds + estimate::overlapped(computing, facts.memory_seconds);
}

// The lower bound of the same. least_k: with less the kernel refuses.
template <class Tile>
constexpr GemmBound bound(const GemmFigures& figures, bool stream_k, double least_k) {
  constexpr double kElements = static_cast<double>(Tile::kBlockM) * Tile::kBlockN;
  constexpr double kStore = store_seconds<Tile>();
  GemmBound bound = {.launches = kLaunchSeconds,
                     .tile_fixed = kStore,
                     .least_tiles = 1.0,
                     .per_element = 1.0 / (Tile::kBlockM * Tile::kBlockN),
                     .per_long = 1.0 / std::max(Tile::kBlockM, Tile::kBlockN),
                     .tile_flops = 2.0 * kElements / figures.efficiency,
                     .least_k = least_k};
  if (stream_k) {
    bound.fill += stream_k_seconds<Tile>() + kFixupElementSeconds * kElements;
    bound.most_k = StreamK::kLeastRange * Tile::kBlockK;
  }
  return bound;
}

}  // namespace mygemm::persistent
