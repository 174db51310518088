// Emulator of the CUDA runtime: the order in which the clusters of a grid start, and how many of
// them are resident at once. CUDA promises neither: blocks of higher numbers may start first, and
// other kernels may leave room for a few blocks only. A block is a cluster of one where the grid
// was not launched as clusters.
// Environment: MYGEMM_EMULATED_START is "ascending" or "random[:SEED]" (the default; SEED: by
// default MYGEMM_EMULATED_SEED), and MYGEMM_EMULATED_RESIDENT the number of clusters that are
// resident at once (default 1). Another one starts only when one of them has ended.
#pragma once

#include <string>
#include <vector>

#include "execution.h"

namespace emulator {

class StartOrder {
 public:
  // Ends the process where the environment variables hold something else.
  explicit StartOrder(const Grid& grid);

  unsigned resident() const { return resident_; }  // at most, and no more than there are
  bool all_started() const { return next_ == order_.size(); }
  // Index of the first block of the next cluster to start.
  uint3 next();
  // The settings that reproduce this order, and the clusters not yet started, for deadlock reports.
  std::string description() const;

 private:
  dim3 grid_;
  unsigned cluster_blocks_;
  unsigned resident_;
  std::string setting_;
  std::vector<unsigned> order_;  // clusters, numbered along x, y, z
  size_t next_ = 0;
};

// MYGEMM_EMULATED_SEED, 1 by default.
unsigned emulated_seed();

}  // namespace emulator
