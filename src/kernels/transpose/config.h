// The Config of a transpose: everything that its launch needs. Pure.
#pragma once

#include "kernels/kernel.h"
#include "kernels/transpose/tiles.h"

namespace mygemm {

// The sides whose rows do not all begin at a sector of memory.
enum RowCut { kCutNone = 0, kCutInput = 1, kCutOutput = 2, kCutBoth = 3, kRowCuts = 4 };

// Measured constants. block_seconds: time of a block that has a multiprocessor to itself.
// efficiency: fraction of the copy bandwidth; instead of it, most kernels have `shares`, the same
// by [log2(element_size)] and [RowCut].
struct TransposeFigures {
  const double (*shares)[kRowCuts] = nullptr;
  double efficiency = 0;
  double block_seconds = 0;
};

// A part that a kernel does not use is not initialised, except for the member that says so: 0.
// (Full initialisation would double the time of a plan.)
struct TransposeConfig : LaunchConfig {
  PatchGrid patches;         // kernels on tiles of patches: threads > 0
  NarrowGrid narrow;         // narrow: length > 0
  int64_t tiles_r, tiles_c;  // tiled, square_in_place: tiles of a matrix
  int64_t copy_blocks;       // through_workspace: of the copy; 0: a plain memory copy
  bool tiled = false;        // tiles_r and tiles_c are set
  bool streamed = false;     // vector: Caching::kStreamed
  bool shift_in = false;     // shifted: rows of the input do not begin at sectors
  bool shift_out = false;    // shifted: rows of the output do not begin at sectors
};

}  // namespace mygemm
