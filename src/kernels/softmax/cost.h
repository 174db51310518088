// Parts of the estimated times that several softmax kernels share. The constants are H200
// measurements (bench/results/). Pure.
#pragma once

#include <algorithm>

#include "kernels/softmax/config.h"

namespace mygemm {

// A grid of which every block loops over rows.
inline int64_t looping_grid(int64_t work) { return std::min(work, kMostGridBlocks); }

// The kernels differ by their efficiency only, a factor that does not depend on the number of rows:
// so what fits in registers is computed there, however few rows there are, and the bits of a row do
// not depend on their number. (Those of block_cluster are those of block.)
inline double registers_seconds(const SoftmaxFacts& facts, double efficiency) {
  return kLaunchSeconds + facts.rounds_seconds / efficiency;
}

// Few rows get a cluster each, of as many blocks as can run here: log2 of 16, or of 8.
inline int log2_blocks_of_row(const DeviceTraits& device) {
  return device.clusters[kMostLog2Blocks] > 0 ? kMostLog2Blocks : kMostLog2Blocks - 1;
}
constexpr const char* kNoClusterReason = "no cluster of 8 blocks can run here";

// Blocks of the reread kernel that a multiprocessor holds at once; registers are kept free for two.
constexpr int reread_residency(const SmResources& sm) {
  return residency(sm, kRereadThreads, static_cast<int>(sizeof(RereadStorage)), 2);
}

// Kernels in which a block, alone, reads a row twice.
inline double reread_seconds(const SoftmaxWork& work, double efficiency,
                             const DeviceTraits& device) {
  constexpr double kRowSeconds = 3e-6, kRowBandwidth = 45e9;
  const double at_once = static_cast<double>(reread_residency(device.sm)) * device.num_sms;
  const double bytes = (2 * work.read + work.written) / work.rows;
  const double shared_seconds =
      bytes * std::min(at_once, work.rows) / (device.memory_bandwidth * efficiency);
  return kLaunchSeconds + rounded_up(work.rows / at_once) *
                              std::max(shared_seconds, kRowSeconds + bytes / kRowBandwidth);
}

}  // namespace mygemm
