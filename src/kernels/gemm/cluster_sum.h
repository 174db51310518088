// Cluster split-K: the blocks of a cluster (sm_90) share the k of a tile and add up through shared
// memory. The parts that all such kernels share; the device code is in cluster_sum.cuh. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device_traits.h"

namespace mygemm {

// Blocks of the largest cluster that an H200 runs; those of more than kPortableCluster are seven at
// a time, and so for products of few tiles.
constexpr int kMostCluster = 16;

// Whether that many clusters of 2^log2 blocks run at once, where `resident` blocks fit on a
// multiprocessor; false for clusters of more blocks than `most`. Clusters of 8 reach 120 of an
// H200's 132 multiprocessors: with two blocks on each, 32 clusters took twice the time of 30.
inline bool clusters_fit(const DeviceTraits& device, int resident, unsigned log2, double clusters,
                         int most = kPortableCluster) {
  return 1 << log2 <= most && device.cc >= 90 &&
         std::max(1.0, clusters) <= device.clusters[log2] * resident;
}

// Bytes of shared memory, no fewer than `bytes`, with which just `resident` blocks fit on a
// multiprocessor. The blocks of clusters go where there is room, not where there are fewest: H200,
// 136 x 176 x 284 NT by 220 blocks takes 4.2 us with room for three on a multiprocessor, 3.7 us
// with room for two.
inline size_t bytes_of_just(int resident, size_t bytes, const DeviceTraits& device) {
  constexpr int kGranule = 128;
  const int of_more = device.sm.shared_bytes / (resident + 1) - kReservedSharedBytes;
  return std::max(bytes, static_cast<size_t>(of_more + kGranule));
}

// The partial sums that a block of a cluster receives: of its own share of the tile's elements,
// from every block of the cluster. kMost: elements of the largest tile.
template <int kMost>
struct Inbox {
  float sums[kMost];  // (block of the cluster, element)
  uint64_t received;  // mbarrier
};

}  // namespace mygemm
