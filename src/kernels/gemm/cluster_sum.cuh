// Cluster split-K: each block of a cluster (sm_90) receives the partial sums of its share of the
// tile's elements from all blocks, adds them up in the order of the blocks, and stores the results.
// Every sum that is sent counts on the receiver's barrier, so that no block waits for the whole
// cluster twice. Device only.
#pragma once

#include <cstdint>

#include "kernels/gemm/cluster_sum.h"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"

namespace mygemm {

// The cluster has 2^log2_splits blocks, of which this one is number `split`; the tile's elements
// are a power of two, no fewer than the blocks.
class ClusterSum {
 public:
  // Called by all threads at the beginning of the kernel; ptx::cluster_wait() precedes send().
  template <int kMost>
  __device__ __forceinline__ static void open(Inbox<kMost>& inbox, int elements) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(&inbox.received, 1);
      ptx::mbarrier_init_fence();
    }
    __syncwarp();  // the race checker sees the order of initialisation and first arrival
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(&inbox.received, static_cast<unsigned>(4 * elements));
    }
    __syncwarp();
    ptx::cluster_arrive_relaxed();
  }

  template <int kMost>
  __device__ __forceinline__ ClusterSum(Inbox<kMost>& inbox, int elements, unsigned log2_splits,
                                        unsigned split)
      : sums_(inbox.sums),
        received_(&inbox.received),
        elements_(elements),
        log2_splits_(log2_splits),
        split_(split) {}

  // This block's sum of element e, once for every element of the tile, inside the matrix or not.
  __device__ __forceinline__ void send(int e, float sum) const {
    const int receiver = (e << log2_splits_) / elements_;
    ptx::store_async_4(sums_ + static_cast<int>(split_) * share() + (e - receiver * share()),
                       received_, static_cast<unsigned>(receiver), sum);
  }

  // Calls store(e, sum) for the elements of this block's share, once all blocks have sent theirs.
  template <class Store>
  __device__ __forceinline__ void receive(Store store) const {
    ptx::mbarrier_wait(received_, 0);
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < share(); i += static_cast<int>(blockDim.x)) {
      float sum = 0;
#pragma unroll 2
      for (int from = i; from < elements_; from += share()) sum += sums_[from];
      store(static_cast<int>(split_) * share() + i, sum);
    }
  }

 private:
  __device__ __forceinline__ int share() const { return elements_ >> log2_splits_; }

  float* sums_;
  uint64_t* received_;
  int elements_;
  unsigned log2_splits_, split_;
};

}  // namespace mygemm
