// The warp-tiled kernels, whole and as split-K: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/tile_estimate.h"

namespace mygemm {

// Block tiles computed by warps of 8 x 4 lanes. A lane holds kQuadsM x kQuadsN quads of 4 x 4
// results; quads of a lane are 32 rows (16 columns) apart, so that the 16-byte shared-memory loads
// of a warp touch 8 (4) neighbouring quads: conflict-free.
//   warp tile: 32 kQuadsM x 16 kQuadsN
template <int kBlockM_, int kBlockN_, int kBlockK_, int kQuadsM_, int kQuadsN_, int kStages_,
          int kRegisterBlocks_>
struct WarpTile {
  using Element = float;
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kBlockK = kBlockK_;
  static constexpr int kQuadsM = kQuadsM_, kQuadsN = kQuadsN_;
  static constexpr int kStages = kStages_;
  static constexpr int kRegisterBlocks = kRegisterBlocks_;
  static constexpr int kWarpM = 32 * kQuadsM, kWarpN = 16 * kQuadsN;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  // 4 floats of padding shift each k by 4 banks: a K-major operand is written by 8 x 4 lanes (k, m)
  // to 32 different banks, and rows stay 16-byte aligned.
  static constexpr int kPitchM = kBlockM + 4, kPitchN = kBlockN + 4;

  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps must tile the block");
  static_assert(kBlockK % 8 == 0, "K-major operands are loaded 8 k at a time");
  static_assert(kStages >= 2, "loads overlap the products of another stage");

  // Columns of a warp that are stored together, four of each lane: (n, m).
  static constexpr int kExchangedColumns = 16;
  using Exchange = Element[kExchangedColumns][kWarpM];
  struct Stages {
    alignas(16) Element a[kStages][kBlockK][kPitchM];  // (stage, k, m)
    alignas(16) Element b[kStages][kBlockK][kPitchN];  // (stage, k, n)
  };
  union SharedStorage {
    Stages stages;
    alignas(16) Exchange exchange[kWarpsM * kWarpsN];
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));
};

// Large products: 8 x 8 results per thread, 256 threads, 25 KB; 2 blocks fit the registers.
using Tile128x128 = WarpTile<128, 128, 8, 2, 2, 3, 2>;
// Small k, where blocks spend much of their time on loads and stores: half the tile, so that twice
// as many resident blocks overlap them.
using Tile128x64 = WarpTile<128, 64, 8, 2, 2, 5, 4>;
// Small m and n, where 128 x 128 would leave multiprocessors idle: 8 x 4 results, 128 threads.
using Tile64x64 = WarpTile<64, 64, 16, 2, 1, 3, 4>;
// One side of 30 to 200, the other of thousands: less of a tile lies outside of D, and there are
// more of them. On GPUs without TMA also larger products that 128 x 128 would not fill the GPU
// with. 4 x 8 results, 64 threads; and 4 x 4.
using Tile64x32 = WarpTile<64, 32, 8, 1, 2, 4, 8>;
using Tile32x64 = WarpTile<32, 64, 8, 1, 2, 4, 8>;
using Tile32x32 = WarpTile<32, 32, 8, 1, 1, 4, 8>;

namespace warptiled {

// Smallest k of a split. H200: where m n is up to 50000 and k 3000 to 11000, blocks of 128 k take
// 0.7 to 0.9 of the time of blocks of 256.
constexpr int64_t kLeastKPerSplit = 64;

inline OperandLoad load_of(Major major, const Operand& x, int64_t batch_count) {
  if (major == Major::kK) return OperandLoad::kTransposing;
  return columns_aligned(x, batch_count) ? OperandLoad::kCopy16 : OperandLoad::kCopy4;
}

// Sets everything but the split of k and the estimate.
template <class Tile>
bool configure_tiles(const GemmProblem& p, const DeviceTraits& device, GemmConfig* config) {
  set_tiles<Tile>(config, p);
  set_block<Tile>(config, device);
  config->load_a = load_of(major_of_a(p), p.a, p.batch_count);
  config->load_b = load_of(major_of_b(p), p.b, p.batch_count);
  return set_blocks(config, p, 1);
}

}  // namespace warptiled

template <class Tile>
const char* configure_warptiled(const GemmKernel& kernel, const GemmFacts& facts,
                                const DeviceTraits& device, const PlanOptions&,
                                GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (!warptiled::configure_tiles<Tile>(p, device, config)) return kTooManyTiles;
  config->k_per_split = p.k;
  config->seconds =
      estimate::tile_kernel_seconds<Tile>(config, kernel.figures,
                                          {.quads_of_a = config->load_a == OperandLoad::kCopy16,
                                           .quads_of_b = config->load_b == OperandLoad::kCopy16},
                                          facts, device);
  return nullptr;
}

namespace estimate {

// Split-K products, fitted to 350 on an H200, k from 324 on; estimates are 6 to 9 % off.
// First loads, last stores and the latency of the second kernel, which do not depend on sizes.
constexpr double kSplitKSeconds = 1.6e-6;
// Bandwidth of the partial sums, each written and read once, over that of device memory.
constexpr double kPartialsOverMemory = 0.63;

// The time of a tile's products at the kernel's efficiency, of k_per_split k.
template <class Tile>
double splitk_tile_seconds(const GemmFigures& figures, const GemmFacts& facts,
                           int64_t k_per_split) {
  return 2.0 * Tile::kBlockM * Tile::kBlockN * static_cast<double>(k_per_split) /
         (facts.sm_flops * figures.efficiency);
}

// The time of `splits` of k_per_split k, from the start of the first kernel on. A step takes
// step_seconds besides the products of all tiles of the multiprocessor.
template <class Tile>
double splitk_seconds(const GemmFigures& figures, const GemmFacts& facts, double tiles,
                      int64_t splits, int64_t k_per_split, const DeviceTraits& device) {
  const double steps = static_cast<double>(k_per_split) / Tile::kBlockK;
  const double parts = static_cast<double>(splits);
  const double products =
      tiles_on_sm(tiles * parts, device) * splitk_tile_seconds<Tile>(figures, facts, k_per_split);
  const double partial_bytes = 8.0 * facts.area * parts;  // written, then read
  return overlapped(kSplitKSeconds + steps * figures.step_seconds + products,
                    facts.memory_seconds) +
         partial_bytes / (device.memory_bandwidth * kPartialsOverMemory);
}

}  // namespace estimate

// The splits whose estimate is the shortest of those that fill the GPU once, half of it and a
// quarter, as far as the workspace has room for them.
template <class Tile>
const char* configure_splitk(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions& options,
                             GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (!warptiled::configure_tiles<Tile>(p, device, config)) return kTooManyTiles;
  const double tiles = std::max(1.0, estimate::block_tiles(*config, p));
  const double blocks = static_cast<double>(device.num_sms) * config->resident;
  const auto filling = static_cast<int64_t>(blocks / tiles);
  const int64_t most = std::min(filling, p.k / warptiled::kLeastKPerSplit);
  if (most < 2) return "k is too short to split, or the GPU is full without";
  // Tiles are fewer than the GPU has slots, so this cannot overflow; where a size is 0 the others
  // may be anything, and unsigned products still end at 0.
  const size_t split_bytes = static_cast<size_t>(p.batch_count) * static_cast<size_t>(p.m) *
                             static_cast<size_t>(p.n) * sizeof(float);
  const size_t fitting = split_bytes == 0 ? SIZE_MAX : options.workspace_bytes / split_bytes;
  if (fitting < 2) return "the workspace is too small";

  double least = GemmBound::kNoLimit;
  int64_t splits = 0;
  for (const int part : {1, 2, 4}) {
    int64_t tried = std::max(std::min(filling / part, most), int64_t{2});
    if (fitting < static_cast<size_t>(tried)) tried = static_cast<int64_t>(fitting);
    if (tried == splits) continue;
    const int64_t k_per_split = ceil_div(ceil_div(p.k, Tile::kBlockK), tried) * Tile::kBlockK;
    tried = ceil_div(p.k, k_per_split);  // the others would have no k
    const double seconds =
        estimate::splitk_seconds<Tile>(kernel.figures, facts, tiles, tried, k_per_split, device);
    if (seconds >= least) continue;
    least = seconds;
    splits = tried;
    config->k_per_split = k_per_split;
  }
  config->may_overlap = estimate::may_overlap(
      tiles * static_cast<double>(splits), config->resident,
      estimate::splitk_tile_seconds<Tile>(kernel.figures, facts, config->k_per_split), device);
  config->k_split = KSplit::kWorkspace;
  config->splits = splits;
  config->blocks *= splits;
  config->workspace_bytes = split_bytes * static_cast<size_t>(splits);
  config->seconds = 2 * kOverlappedLaunchSeconds + least;
  return nullptr;
}

template <class Tile>
constexpr GemmBound warptiled_bound(const GemmFigures& figures) {
  return estimate::tile_bound<Tile>(figures);
}
template <class Tile>
constexpr GemmBound splitk_bound(const GemmFigures& figures) {
  return {.launches = 2 * kOverlappedLaunchSeconds,
          .fill = estimate::kSplitKSeconds,
          .per_element = 1.0 / (Tile::kBlockM * Tile::kBlockN),
          .tile_flops = 2.0 * Tile::kBlockM * Tile::kBlockN / figures.efficiency,
          .k_seconds = figures.step_seconds / Tile::kBlockK,
          .most_k = warptiled::kLeastKPerSplit};
}

namespace cuda {
// k_split kNone: results; kWorkspace: partial sums, and the kernel that adds them (partials.h).
template <class Tile>
Status launch_gemm_warptiled(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
