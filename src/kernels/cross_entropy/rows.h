// How the rows of a cross entropy are divided among warps, and the shared memory of its kernels,
// for the kernels and for their configurations. Pure.
#pragma once

#include "kernels/softmax/cluster.h"

namespace mygemm {

// Block kernels: the results of the runs of a row.
constexpr int kRowThreads = 512;
struct RowStorage {
  MaxSum run[WideRows::kMostRuns];
  float mean[WideRows::kMostRuns];
  float target;  // its logit
};

// A row's sums, against the exponentials' reference: all that its loss is made of.
struct LossParts {
  float shift, power;  // the Reference
  float others, own;   // sum of the exponentials of all logits but the target's, and the target's
  float target;        // its logit
};

// All that a row's gradient is made of.
struct RowGradient {
  float shift, power;  // the Reference of the exponentials
  float high, low;     // factor of an exponential, as a sum
  float constant;      // added to that
  float target;        // the gradient of the target's logit
  bool ignored;        // the gradient is 0
};

// Cluster kernel: what the blocks of a cluster send each other for one row, 8 bytes at a time; rows
// alternate between the two, since a warp may be one row ahead of another one.
constexpr int kMostClusterRuns = kClusterWarps << kMostLog2Blocks;
struct LossExchange {
  uint64_t barrier;
  uint64_t row_after_next;
  uint64_t target;  // its logit
  MaxSum run[kMostClusterRuns];
  uint64_t mean[kMostClusterRuns];
};
// After it in shared memory follow the slots of tiles, their barriers, and the maxima of each
// lane's part of them.
struct alignas(16) LossStorage {
  LossExchange exchange[2];
};

constexpr int kNaiveLossThreads = 128;

// Narrow kernel. Its order of summation is another one than that of wider rows, so other kernels
// refuse rows of up to as many columns: a row's bits depend on its width, not on the number of
// rows.
// (32 elements in half the lanes: 1.5 times as long at 256 columns of fp32, H200.)
constexpr int kNarrowLossThreads = 128, kMostNarrowLossElements = 16;
constexpr int64_t kMostNarrowLossColumns = 32 * kMostNarrowLossElements;
struct NarrowLoss {
  int log2_lanes = 0;  // neighbouring lanes of a warp that hold a row
  int elements = 0;    // of each: 4, 8 or 16
};

}  // namespace mygemm
