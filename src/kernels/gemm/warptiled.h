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

  struct SharedStorage {
    alignas(16) Element a[kStages][kBlockK][kPitchM];  // (stage, k, m)
    alignas(16) Element b[kStages][kBlockK][kPitchN];  // (stage, k, n)
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

namespace estimate {

// Stores, for each element of a multiprocessor's tiles: H200, 1 to 32 k.
constexpr double kWarptiledStoreSeconds = 0.5e-10, kWarptiledMisalignedStoreSeconds = 1.0e-10;

// Small blocks begin and end beside many others. Fitted to 295 products on an H200. For blocks of
// 64 x 64, 0.85 gained nothing there, and 1024 products of 64^3 took 1.19 times as long on an H100.
template <class Tile>
constexpr double warptiled_overhead() {
  constexpr int kResults = Tile::kBlockM * Tile::kBlockN;
  return kResults <= 1024 ? 0.4 : kResults <= 2048 ? 0.8 : 1.0;
}

// The time of a k step whose operands come in copies of so many floats, over the time of one with
// copies of 4 floats alone, by the instructions of a thread. Each copy takes about seven: see
// TileLoader.
template <class Tile>
constexpr double warptiled_step_factor(int floats_of_copy_a, int floats_of_copy_b) {
  constexpr double kCopyInstructions = 7.0;
  constexpr double kPerK = 16 * Tile::kQuadsM * Tile::kQuadsN + Tile::kQuadsM + Tile::kQuadsN;
  const auto instructions = [](int floats_a, int floats_b) {
    const double copies = double{Tile::kBlockM} / floats_a + double{Tile::kBlockN} / floats_b;
    return kPerK + kCopyInstructions * copies / Tile::kThreads;
  };
  return instructions(floats_of_copy_a, floats_of_copy_b) / instructions(4, 4);
}

template <class Tile>
constexpr TileKernel warptiled(bool quads_of_a = true, bool quads_of_b = true,
                               bool quads_of_d = true) {
  constexpr double kStepFactors[2][2] = {
      {warptiled_step_factor<Tile>(1, 1), warptiled_step_factor<Tile>(1, 4)},
      {warptiled_step_factor<Tile>(4, 1), 1.0}};
  return {.fill_steps = Tile::kStages - 1,
          .store_element = quads_of_d ? kWarptiledStoreSeconds : kWarptiledMisalignedStoreSeconds,
          .overhead = warptiled_overhead<Tile>(),
          .step_factor = kStepFactors[quads_of_a][quads_of_b]};
}

}  // namespace estimate

namespace warptiled {

// Smallest k of a split: below, the partial sums cost more than the parallelism gains.
constexpr int64_t kLeastKPerSplit = 256;

inline OperandLoad load_of(Major major, const Operand& x, int64_t batch_count) {
  if (major == Major::kK) return OperandLoad::kTransposing;
  return columns_aligned(x, batch_count) ? OperandLoad::kCopy16 : OperandLoad::kCopy4;
}

// How a kernel of this Config does, for its estimate.
template <class Tile>
estimate::TileKernel tile_kernel(const GemmConfig& config, const GemmProblem& p) {
  return estimate::warptiled<Tile>(config.load_a == OperandLoad::kCopy16,
                                   config.load_b == OperandLoad::kCopy16,
                                   columns_aligned(p.d, p.batch_count));
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
  config->seconds = estimate::tile_kernel_seconds<Tile>(
      config, kernel.figures, warptiled::tile_kernel<Tile>(*config, p), facts, device);
  return nullptr;
}

// As many splits as fill the GPU once and as the workspace has room for.
template <class Tile>
const char* configure_splitk(const GemmKernel& kernel, const GemmFacts& facts,
                             const DeviceTraits& device, const PlanOptions& options,
                             GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  if (!warptiled::configure_tiles<Tile>(p, device, config)) return kTooManyTiles;
  const double tiles = std::max(1.0, estimate::block_tiles(*config, p));
  const auto filling = static_cast<int64_t>(device.num_sms * config->resident / tiles);
  const int64_t wanted = std::min(filling, p.k / warptiled::kLeastKPerSplit);
  if (wanted < 2) return "k is too short to split, or the GPU is full without";
  // Tiles are fewer than the GPU has slots, so this cannot overflow; where a size is 0 the others
  // may be anything, and unsigned products still end at 0.
  const size_t split_bytes = static_cast<size_t>(p.batch_count) * static_cast<size_t>(p.m) *
                             static_cast<size_t>(p.n) * sizeof(float);
  const size_t fitting = split_bytes == 0 ? SIZE_MAX : options.workspace_bytes / split_bytes;
  if (fitting < 2) return "the workspace is too small";
  const int64_t splits =
      fitting < static_cast<size_t>(wanted) ? static_cast<int64_t>(fitting) : wanted;
  config->k_split = KSplit::kWorkspace;
  config->splits = splits;
  config->k_per_split = ceil_div(ceil_div(p.k, Tile::kBlockK), splits) * Tile::kBlockK;
  config->blocks *= splits;
  config->workspace_bytes = split_bytes * static_cast<size_t>(splits);

  const double parts = static_cast<double>(splits);
  const double partial_bytes = 8.0 * facts.area * parts;  // written, then read
  const double computing = estimate::tile_seconds<Tile>(
      config, kernel.figures, warptiled::tile_kernel<Tile>(*config, p), facts,
      estimate::block_tiles(*config, p) * parts, estimate::rounded_up(facts.k / parts), device);
  config->seconds = estimate::launch_seconds(*config) + kOverlappedLaunchSeconds +
                    estimate::overlapped(computing, facts.memory_seconds) +
                    partial_bytes / (device.memory_bandwidth * estimate::kL2OverMemory);
  return nullptr;
}

template <class Tile>
constexpr GemmBound warptiled_bound(const GemmFigures& figures) {
  return estimate::tile_bound<Tile>(figures, estimate::warptiled<Tile>());
}
template <class Tile>
constexpr GemmBound splitk_bound(const GemmFigures& figures) {
  GemmBound bound = warptiled_bound<Tile>(figures);
  bound.launches = 2 * kOverlappedLaunchSeconds;
  bound.most_k = warptiled::kLeastKPerSplit;
  return bound;
}

namespace cuda {
// k_split kNone: results; kWorkspace: partial sums, and the kernel that adds them (partials.h).
template <class Tile>
Status launch_gemm_warptiled(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
