// The Config of a transpose: everything that its launch needs. Pure.
#pragma once

#include "kernels/kernel.h"
#include "kernels/transpose/facts.h"
#include "kernels/transpose/gathered.h"
#include "kernels/transpose/tiles.h"

namespace mygemm {

// Measured constants. block_seconds: time of a block that has a multiprocessor to itself.
// efficiency: fraction of the copy bandwidth; instead of it, most kernels have `shares`, the same
// by [log2(element_size)] and [RowCut].
struct TransposeFigures {
  const double (*shares)[kRowCuts] = nullptr;
  double efficiency = 0;
  double block_seconds = 0;
};

// The fraction of the copy bandwidth that the figures give for the problem.
inline double share_of(const TransposeFigures& figures, const TransposeFacts& facts) {
  return figures.shares ? figures.shares[facts.log2_size][facts.cut] : figures.efficiency;
}

// A lower bound of the estimate: a plan passes over the kernels for which it is too long.
inline double least_seconds(const TransposeKernel& kernel, const TransposeFacts& facts) {
  if (kernel.on_host()) return 0.0;
  constexpr double kMargin = 1.0 - 1e-9;  // estimates are rounded in other places
  return kMargin * (kLaunchSeconds + kernel.figures.block_seconds +
                    facts.copy_seconds / share_of(kernel.figures, facts));
}

// A part that a kernel does not use is not initialised, except for the member that says so: 0.
// (Full initialisation would double the time of a plan.)
struct TransposeConfig : LaunchConfig {
  PatchGrid patches;         // kernels on tiles of patches: threads > 0
  NarrowGrid narrow;         // narrow: length > 0
  GatheredGrid gathered;     // kernels that gather: packs > 0
  int64_t tiles_r, tiles_c;  // tiled, square_in_place: tiles of a matrix
  int64_t copy_blocks;       // through_workspace: of the copy; 0: a plain memory copy
  bool tiled = false;        // tiles_r and tiles_c are set
  bool streamed = false;     // vector: Caching::kStreamed
  bool shifted = false;      // through_workspace: from there by the kernel `shifted`
};

}  // namespace mygemm
