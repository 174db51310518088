// Threads of a block and shared memory of the softmax kernels, for the kernels and for their
// configurations. Pure.
#pragma once

#include "kernels/softmax/wide.h"

namespace mygemm {

// The largest x of a part of a row, and the sum of its exponentials against that maximum's
// Reference (formulas.cuh).
template <class Total>
struct MaxTotal {
  float maximum;
  Total sum;
};
using MaxSum = MaxTotal<float>;

// Block kernel: the result of each warp.
struct alignas(16) BlockStorage {
  float maximum[32], sum[32];
};

// Kernels in which a cluster works on one row: the results of the row's parts, sent to all blocks.
template <int kMostParts>
struct alignas(16) PartsOfRow {
  uint64_t received;  // mbarrier
  MaxSum part[kMostParts];
};

// Block_cluster kernel: a part is a warp's.
constexpr int kBlockClusterThreads = 128;
using BlockClusterStorage = PartsOfRow<32>;

// Wide_cluster kernel: a part is a run.
constexpr int kWideClusterWarps = 16;
struct WideClusterStorage {
  PartsOfRow<kWideClusterWarps * 16> runs;
  MaxSum lane[kWideClusterWarps][32];  // of each warp, where it holds one tile
};

constexpr int kNaiveThreads = 128;

// Reread kernel: the result of each run of a row.
constexpr int kRereadThreads = 512;
struct RereadStorage {
  MaxSum run[WideRows::kMostRuns];
};

// First grid of the split kernel: the results of the lanes of each warp for one tile. Batches of
// tiles alternate between the two.
constexpr int kSplitWarps = 16;
struct SplitStorage {
  MaxSum lane[2][kSplitWarps][32];
};

// Cluster kernel: what the blocks of a cluster send each other for one row, 8 bytes at a time. Rows
// alternate between the two, since a warp may be one row ahead of another one.
struct ClusterExchange {
  uint64_t barrier;
  int64_t row_after_next;
  MaxSum run[WideRows::kMostRuns];
};
// After it in shared memory follow the slots of tiles, their barriers, and the maxima of each
// lane's part of them.
struct ClusterStorage {
  ClusterExchange exchange[2];
};

}  // namespace mygemm
