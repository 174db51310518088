// Cluster split-K: the blocks of a cluster (sm_90) share the k of a tile and add up through shared
// memory. What kernels that do so have in common; the device code is in cluster_sum.cuh. Pure.
#pragma once

#include <cstdint>

#include "device_traits.h"

namespace mygemm {

// The time that adding up over a cluster takes.
constexpr double kClusterSeconds = 0.6e-6;

// Whether so many clusters of 2^log2 blocks, of those that every GPU with clusters takes, run at
// once, where `resident` blocks fit a multiprocessor. Those of 8 reach 120 of an H200's 132
// multiprocessors: 32 of two blocks on each took twice the time of 30.
inline bool clusters_fit(const DeviceTraits& device, int resident, unsigned log2, double clusters) {
  return 1 << log2 <= kPortableCluster && device.cc >= 90 &&
         clusters <= device.clusters[log2] * resident;
}

// The partial sums that a block of a cluster receives: of its own share of the tile's elements,
// from every block of the cluster. kMost: elements of the largest tile.
template <int kMost>
struct Inbox {
  float sums[kMost];  // (block of the cluster, element)
  uint64_t received;  // mbarrier
};

}  // namespace mygemm
