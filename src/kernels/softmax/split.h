// How rows are split over blocks where there are few of them: the plan and the launcher must agree
// on it. Pure.
#pragma once

#include <algorithm>

#include "kernels/softmax/wide.h"

namespace mygemm {

constexpr int kSplitWarps = 16;

// A block works on whole runs: on one tile for each warp at a time, or, where there are runs enough
// for all multiprocessors, on one run for each warp.
struct SplitRows {
  bool run_for_each_warp;
  int runs_of_block;
  int64_t blocks_of_row;
};

inline SplitRows split_rows(const SoftmaxProblem& p, const WideRows& rows,
                            const DeviceTraits& device) {
  SplitRows split{};
  split.run_for_each_warp = p.rows >= ceil_div(int64_t{kSplitWarps} * device.num_sms, rows.runs);
  const int64_t tiles = split.run_for_each_warp ? 1 : rows.most_tiles_of_run();
  split.runs_of_block = static_cast<int>(std::max<int64_t>(1, kSplitWarps / tiles));
  split.blocks_of_row = ceil_div(rows.runs, split.runs_of_block);
  return split;
}

}  // namespace mygemm
