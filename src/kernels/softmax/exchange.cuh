// How the warps of a cluster that shares a row send each other their sums. Device only, SM 90.
#pragma once

#include "kernels/softmax/cluster.h"
#include "kernels/softmax/storage.h"
#include "ptx/cluster.cuh"
#include "ptx/grid.cuh"
#include "ptx/mbarrier.cuh"

namespace mygemm {

// A position in a ring of slots, or in the two exchanges, and the phase of its barrier.
struct Position {
  int slot = 0;
  unsigned phase = 0;

  __device__ __forceinline__ void advance(int slots) {
    if (++slot == slots) {
      slot = 0;
      phase ^= 1;
    }
  }
};

// Sends a value to every block of the cluster, one lane to each. A cluster of one block writes it
// locally.
__device__ __forceinline__ void send(void* to, uint64_t* barrier, uint64_t value) {
  const unsigned lane = threadIdx.x % 32, blocks = ptx::cluster_blocks();
  if (blocks == 1) {
    if (lane == 0) *static_cast<uint64_t*>(to) = value;
  } else if (lane < blocks) {
    ptx::store_async_8(to, barrier, lane, value);
  }
}
// A lane's values of a row are sent, and those of the row before are read. `bytes`: of all values
// that are sent to a block. Every lane arrives, since each reads: a value that was sent does not
// prove, in the memory model, that the reads before it are over.
constexpr unsigned kExchangeArrivals = kClusterThreads;

__device__ __forceinline__ void arrive(uint64_t* barrier, unsigned bytes) {
  if (threadIdx.x == 0 && ptx::cluster_blocks() > 1) {
    ptx::mbarrier_arrive_expect_tx(barrier, bytes);
  } else {
    ptx::mbarrier_arrive(barrier);
  }
}
__device__ __forceinline__ uint64_t bits_of(const MaxSum& run) {
  return uint64_t{__float_as_uint(run.sum)} << 32 | __float_as_uint(run.maximum);
}

// The one exchange of a cluster that works on one row only. Every thread calls begin_exchange()
// before it loads its elements, and exchange() with its warp's part, number `own` of `parts`; a
// warp that has none gives a number past the last one.
template <int kMostParts>
__device__ __forceinline__ void begin_exchange(PartsOfRow<kMostParts>& row) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&row.received, 1);
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_arrive_relaxed();
}
template <int kMostParts>
__device__ __forceinline__ void exchange(PartsOfRow<kMostParts>& row, int parts, int own,
                                         const MaxSum& part) {
  ptx::cluster_wait();  // every block's barrier is there
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&row.received,
                                   static_cast<unsigned>(parts * static_cast<int>(sizeof(MaxSum))));
  }
  if (own < parts) send(&row.part[own], &row.received, bits_of(part));
  ptx::mbarrier_wait(&row.received, 0);
  ptx::launch_dependents();
}

}  // namespace mygemm
