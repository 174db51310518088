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
constexpr int kNarrowLossThreads = 128, kMostNarrowLossElements = 32;
constexpr int64_t kMostNarrowLossColumns = 32 * kMostNarrowLossElements;

// The fewest columns of rows that 1, 2, 4, 8, 16 and 32 neighbouring lanes of a warp hold: as few
// lanes as do, for all else that a row takes is done once for each. But lanes of a warp that access
// more than a dozen rows at once, each far from the next, wait for memory: 16 and 32 columns of
// fp32 took 5.1 and 3.7 times as long as a copy with one and two lanes, 2.9 with twice as many
// (H200).
constexpr int kFewestColumnsOfLanes[] = {1, 13, 25, 129, 257, 513};

constexpr int narrow_loss_log2_lanes(int64_t cols) {
  int log2 = 0;
  while (log2 < 5 && kFewestColumnsOfLanes[log2 + 1] <= cols) ++log2;
  return log2;
}

// How rows are read and written.
enum class NarrowRows {
  kStaged,    // through shared memory, where a bundle of them moves as one run: rows without gaps
  kPacks,     // by packs: rows that consist of whole aligned ones
  kElements,  // by single elements
};
struct NarrowLoss {
  NarrowRows layout = NarrowRows::kElements;
  int log2_lanes = 0;   // neighbouring lanes of a warp that hold a row
  int elements = 0;     // of each, at most
  int log2_passes = 0;  // of a set of rows, of which a warp works on one after another; at most
                        // log2_lanes, since a lane keeps the sums of one row
  int sets = 0;         // of a bundle

  constexpr int rows() const { return sets << (5 - log2_lanes + log2_passes); }  // of a bundle
};
constexpr int kNarrowLossPack = 4;       // elements
constexpr int kMostStagedLog2Lanes = 2;  // longer rows are as fast by elements

// The number of elements of a lane is a compile-time constant, a multiple of this: coarse where
// rows are rare, as are mixed widths, and rows that neither consist of packs nor are staged.
constexpr int narrow_loss_unit(NarrowRows layout, Widths widths, int log2_lanes, int elements) {
  if (widths == Widths::kMixed || layout == NarrowRows::kElements) return log2_lanes <= 1 ? 12 : 16;
  if (layout == NarrowRows::kStaged && elements <= 4) return 2;
  return elements <= 16 ? kNarrowLossPack : 2 * kNarrowLossPack;
}
constexpr int narrow_loss_elements(NarrowRows layout, Widths widths, int log2_lanes, int64_t cols) {
  const int64_t all = cols > 0 ? cols : 1;
  const auto elements = static_cast<int>(ceil_div(all, int64_t{1} << log2_lanes));
  const int unit = narrow_loss_unit(layout, widths, log2_lanes, elements);
  return (elements + unit - 1) / unit * unit;
}
constexpr int fewest_narrow_loss_elements(NarrowRows layout, Widths widths, int log2_lanes) {
  return narrow_loss_elements(layout, widths, log2_lanes, kFewestColumnsOfLanes[log2_lanes]);
}
constexpr int most_narrow_loss_elements(int log2_lanes) {
  return log2_lanes <= 1 ? 12 : kMostNarrowLossElements;
}
// Blocks of a multiprocessor for which the compiler limits the registers.
constexpr int narrow_loss_blocks(int elements) {
  if (elements <= 8) return elements <= 4 ? 9 : 8;
  if (elements <= 16) return elements <= 12 ? 7 : 6;
  return elements <= 24 ? 5 : 4;
}

}  // namespace mygemm
