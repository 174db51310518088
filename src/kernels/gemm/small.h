// The small kernels, in which a warp computes a tile by itself: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/tile_estimate.h"

namespace mygemm {

// Tiles of one warp each, with a ring of stages of its own: kLanesM x kLanesN lanes. A lane holds
// kQuadsM quads of rows, kLanesM quads apart, and kRunsN groups of kRunN neighbouring columns,
// kLanesN groups apart.
template <int kLanesM_, int kQuadsM_, int kRunN_, int kRunsN_, int kRegisterBlocks_>
struct SmallTile {
  using Element = float;
  static constexpr int kLanesM = kLanesM_, kLanesN = 32 / kLanesM;
  static constexpr int kQuadsM = kQuadsM_, kRunN = kRunN_, kRunsN = kRunsN_;
  static constexpr int kRegisterBlocks = kRegisterBlocks_;
  static constexpr int kThreadM = 4 * kQuadsM, kThreadN = kRunN * kRunsN;
  static constexpr int kBlockM = kLanesM * kThreadM, kBlockN = kLanesN * kThreadN, kBlockK = 16;
  static constexpr int kStages = 2;
  static constexpr int kTilesPerBlock = 4, kThreads = 32 * kTilesPerBlock;

  struct Ring {
    alignas(16) Element a[kStages][kBlockM * kBlockK];  // as in the matrix; see Stage in small.cuh
    alignas(16) Element b[kStages][kBlockN * kBlockK];
    alignas(16) float exchange[32][4];  // see store_quads
  };
  struct SharedStorage {
    Ring rings[kTilesPerBlock];
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));
};

// Two stages: 4 for 16 x 16 were no faster on an H200 (k = 58: 4.6 us), and make fewer warps.
using Small16x16 = SmallTile<4, 1, 2, 1, 6>;  // 4 x 2 results a lane
using Small32x32 = SmallTile<8, 1, 4, 2, 5>;  // 4 x 8
using Small64x32 = SmallTile<8, 2, 4, 2, 4>;  // 8 x 8

namespace small {

// A warp loads its next tile while it stores one.
constexpr double kNotOverlapped = 0.0;
// Warps store elements one by one where columns of D are not aligned.
constexpr double kMisalignedStoreSeconds = 1.2e-10;

}  // namespace small

template <class Tile>
const char* configure_small(const GemmKernel& kernel, const GemmFacts& facts,
                            const DeviceTraits& device, const PlanOptions&, GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  set_tiles<Tile>(config, p);
  set_block<Tile>(config, device);
  if (!set_blocks(config, p, 1)) return kTooManyTiles;
  // The grid is persistent: a block takes one tile after another.
  config->blocks = std::min(config->blocks, int64_t{device.num_sms} * config->resident);
  config->k_per_split = p.k;
  config->seconds = estimate::tile_kernel_seconds<Tile>(
      config, kernel.figures,
      {.tiles_per_block = Tile::kTilesPerBlock,
       .quads_of_a = columns_aligned(p.a, p.batch_count),
       .quads_of_b = columns_aligned(p.b, p.batch_count),
       .not_overlapped = small::kNotOverlapped,
       .misaligned_store_seconds = small::kMisalignedStoreSeconds},
      facts, device);
  return nullptr;
}

template <class Tile>
constexpr GemmBound small_bound(const GemmFigures& figures) {
  GemmBound bound = estimate::tile_bound<Tile>(figures);
  bound.not_overlapped = small::kNotOverlapped;
  return bound;
}

namespace cuda {
template <class Tile>
Status launch_gemm_small(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
