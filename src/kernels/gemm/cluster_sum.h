// Cluster split-K: the blocks of a cluster (sm_90) share the k of a tile and add up through shared
// memory. The parts that all such kernels share; the device code is in cluster_sum.cuh. Pure.
#pragma once

#include <cstdint>

#include "device_traits.h"

namespace mygemm {

// Time of the addition over a cluster.
constexpr double kClusterSeconds = 0.6e-6;

// Whether that many clusters of 2^log2 blocks run at once, where `resident` blocks fit on a
// multiprocessor; false for clusters that are not portable. Clusters of 8 reach 120 of an H200's
// 132 multiprocessors: with two blocks on each, 32 clusters took twice the time of 30.
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
