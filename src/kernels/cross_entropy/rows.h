// How the rows of a cross entropy are divided among warps, and the shared memory of its kernels,
// for the kernels and for their configurations. Pure.
#pragma once

#include "kernels/softmax/cluster.h"

namespace mygemm {

// Tiles of a run, as long as the number of runs can grow: a lane's registers hold 64 floats of a
// run beside the work on them, or 48 of mixed widths.
constexpr int tiles_of_run(Widths widths, int pack_elements) {
  const int elements = widths == Widths::kMixed && pack_elements > 1 ? 48 : 64;
  return elements / (tile_packs(pack_elements) * pack_elements);
}

// The order of summation of all kernels: that of wide softmax rows, in shorter runs.
inline WideRows cross_entropy_rows(const RowShape& shape) {
  return wide_rows(shape, tiles_of_run(shape.widths, wide_pack(shape)));
}

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
struct alignas(16) RowGradient {
  float shift, power;  // the Reference of the exponentials
  float high, low;     // factor of an exponential, as a sum
  float constant;      // added to that
  float target;        // the gradient of the target's logit
  int ignored;         // 1: the gradient is 0
  int row_after;       // cluster kernel: the row to load behind those that are known
};

// Cluster kernel: the warps of a block are divided into groups, each with a row of its own.
constexpr int kMostGroups = 2;

// Cluster kernel: what the blocks of a cluster send each other for one row of a group, 8 bytes at a
// time. The rows of a group alternate between two exchanges, since a warp may be one row ahead of
// another one. The slots of tiles and their barriers follow in shared memory.
constexpr int kMostClusterRuns = kClusterWarps << kMostLog2Blocks;  // of all groups
struct LossExchange {
  uint64_t barrier;
  uint64_t row;     // the one to load behind those that are known
  uint64_t target;  // its logit
};
struct alignas(16) LossStorage {  // slots are written by bulk copies
  // The results of an exchange, which one warp of the group works out for all, and their barriers.
  RowGradient result[2 * kMostGroups];
  uint64_t ready[2 * kMostGroups];
  LossExchange exchange[2 * kMostGroups];
  MaxSum run[2 * kMostClusterRuns];
  uint64_t mean[2 * kMostClusterRuns];
  // By each group, until its registers are free to compute the loss.
  LossParts left[kMostGroups];
  float left_mean[kMostGroups];
};

constexpr int kNaiveLossThreads = 128;

}  // namespace mygemm
