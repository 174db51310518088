// The two kernels at the foot of the ladder, naive and tiled: tiles, configuration, launch. Pure.
#pragma once

#include "kernels/gemm/tile_estimate.h"

namespace mygemm {

// One result per thread, one k at a time, no shared memory.
struct TileNaive {
  using Element = float;
  static constexpr int kBlockM = 32, kBlockN = 8, kBlockK = 1;
  static constexpr int kThreads = kBlockM * kBlockN;
  static constexpr int kRegisterBlocks = 8;
  static constexpr int kSharedBytes = 0;
};

// One 32 x 32 tile in shared memory, 32 x 8 threads, 4 results each.
struct TileShared {
  using Element = float;
  static constexpr int kBlockM = 32, kBlockN = 32, kBlockK = 32;
  static constexpr int kThreads = 256;
  static constexpr int kResults = kBlockM * kBlockN / kThreads;
  static constexpr int kRegisterBlocks = 6;
  struct SharedStorage {
    Element a[kBlockK][kBlockM + 1];  // (k, m)
    Element b[kBlockK][kBlockN + 1];  // (k, n)
  };
  static constexpr int kSharedBytes = static_cast<int>(sizeof(SharedStorage));
};

// Any op, size, leading dimension, alignment and batch: blocks loop where there are more tiles than
// a grid can have blocks.
inline const char* configure_naive(const GemmKernel& kernel, const GemmFacts& facts,
                                   const DeviceTraits& device, const PlanOptions&,
                                   GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  set_tiles<TileNaive>(config, p);
  set_block<TileNaive>(config, device);
  config->blocks = static_cast<int64_t>(
      std::min(estimate::block_tiles(*config, p), static_cast<double>(kMostGridBlocks)));
  // H200: the lanes of a warp read a line each where A is transposed.
  constexpr double kTransposedStep = 1.5;
  GemmFigures figures = kernel.figures;
  if (p.transa) figures.step_seconds *= kTransposedStep;
  config->seconds = estimate::tile_kernel_seconds<TileNaive>(config, figures, {}, facts, device);
  return nullptr;
}

inline const char* configure_tiled(const GemmKernel& kernel, const GemmFacts& facts,
                                   const DeviceTraits& device, const PlanOptions&,
                                   GemmConfig* config) {
  const GemmProblem& p = facts.problem;
  set_tiles<TileShared>(config, p);
  set_block<TileShared>(config, device);
  if (!set_blocks(config, p, 1)) return kTooManyTiles;
  config->seconds =
      estimate::tile_kernel_seconds<TileShared>(config, kernel.figures, {}, facts, device);
  return nullptr;
}

namespace cuda {
Status launch_gemm_naive(const GemmProblem&, const GemmConfig&, const LaunchContext&);
Status launch_gemm_tiled(const GemmProblem&, const GemmConfig&, const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
