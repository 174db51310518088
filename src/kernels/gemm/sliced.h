// How the k of a product is sliced among the blocks of a cluster: for the plan's estimate and for
// the launcher, which must agree. Pure.
#pragma once

#include "plan/plan.h"

namespace mygemm {

// What adding up over a cluster takes.
constexpr double kClusterSeconds = 0.6e-6;
// No block has less: below, adding up over the cluster costs what the shorter sums gain.
constexpr int64_t kLeastSlice = 64;

// Whether so many clusters of 2^log2 blocks, of those that every GPU with clusters takes, run at
// once. Those of 8 reach 120 of an H200's 132 multiprocessors: 32 of two blocks on each took twice
// the time of 30.
inline bool clusters_fit(const GemmRow& row, const DeviceTraits& device, unsigned log2,
                         double clusters) {
  return 1 << log2 <= kPortableCluster && device.cc >= 90 &&
         clusters <= device.clusters[log2] * row.blocks_per_sm;
}

// Of the blocks that share the k of one tile: as many as reside at once. H200: twice as many as
// have a multiprocessor each take up to 12 % less, and never more.
inline unsigned log2_slices_of(const GemmRow& row, const GemmProblem& p,
                               const DeviceTraits& device) {
  const double tiles = static_cast<double>(ceil_div(p.m, row.block_m)) *
                       static_cast<double>(ceil_div(p.n, row.block_n)) *
                       static_cast<double>(p.batch_count);
  unsigned log2 = 0;
  while (2 << log2 <= row.most_slices && clusters_fit(row, device, log2 + 1, tiles) &&
         p.k >= kLeastSlice << (log2 + 1)) {
    ++log2;
  }
  return log2;
}

}  // namespace mygemm
