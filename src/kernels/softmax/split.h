// How a wide row is divided among blocks where there are few rows. Pure.
#pragma once

#include "kernels/softmax/storage.h"

namespace mygemm {

constexpr int kSplitThreads = 32 * kSplitWarps;

// A block computes whole runs. Its warps take one tile each at a time or, where there are enough
// runs for all multiprocessors, one run each.
struct SplitRows {
  bool run_for_each_warp;
  int runs_of_block;
  int64_t blocks_of_row = 0;
};

}  // namespace mygemm
