// Rows that the registers of a warp or of a block hold, and how they are distributed over threads.
// Everything here depends on columns, types and alignment only, so that the bits of a row's result
// do not depend on the number of rows. Pure.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/softmax/formats.h"

namespace mygemm {

// Packs (in_packs) or single elements that a thread of the warp kernel holds at most. Two to four
// packs are best: one leaves too few bytes in flight, and idle lanes cost as much as busy ones.
constexpr int most_packs_of_lane(bool in_packs, Widths widths) {
  if (in_packs) return 4;
  return widths == Widths::kFp32 ? 16 : 8;
}

constexpr int kLog2WarpThreads = 7,
              kWarpThreads = 1 << kLog2WarpThreads;  // of a warp kernel's block

// Warp kernel: 2^log2_lanes lanes share a row. Each lane holds `packs` packs or elements; the last
// one may be missing.
struct SoftmaxLanes {
  int log2_lanes;
  int packs = 0;
};

inline SoftmaxLanes softmax_lanes(const SoftmaxProblem& p, const RowShape& shape) {
  const bool in_packs = shape.layout == Layout::kPacks;
  const int64_t packs = in_packs ? shape.packs : p.cols;
  const auto lanes = static_cast<uint64_t>(std::max<int64_t>(1, in_packs ? packs / 2 : packs / 4));
  const int log2_lanes = std::min(static_cast<int>(std::bit_width(lanes)) - 1, 5);
  constexpr int64_t kTooMany = 1000;
  if (packs > kTooMany << 5) return {log2_lanes, static_cast<int>(kTooMany)};
  return {log2_lanes, static_cast<int>((packs + (1 << log2_lanes) - 1) >> log2_lanes)};
}

inline bool fits_warp(const SoftmaxLanes& lanes, const RowShape& shape) {
  return lanes.packs <= most_packs_of_lane(shape.layout == Layout::kPacks, shape.widths);
}

// Block kernel: threads that share a row. Each holds `packs` packs; the last one may be missing.
struct SoftmaxBlock {
  int threads;
  int packs = 0;
};

constexpr int kBlockFewestThreads = 64, kBlockFewThreads = 512, kBlockManyThreads = 1024;
constexpr int kBlockFewPacks = 4;   // per thread
constexpr int kBlockManyPacks = 8;  // per thread, where four are too few

// Threads for which each holds at most four packs. Three blocks of 512 threads fit on a
// multiprocessor, or two of a gradient. (One block of more threads is slower: 12289 columns of
// fp32: 0.82 of a copy, a cluster 0.99; H200.)
constexpr int most_threads_of_few_packs(const SoftmaxProblem& p, Widths widths) {
  return p.backward && widths == Widths::k16Bit ? kBlockManyThreads : kBlockFewThreads;
}
// The same for eight packs. 1024 threads of 16-bit packs are slower than a cluster (65536 columns:
// 0.85, 0.89; H200).
constexpr int most_threads_of_many_packs(Widths widths) {
  return widths == Widths::k16Bit ? kBlockFewThreads : kBlockManyThreads;
}

// Whether a block's registers hold a row.
constexpr bool fits_block(const SoftmaxProblem& p, const RowShape& shape) {
  const bool aligned = shape.layout != Layout::kAny;
  if (aligned && shape.packs > 0 &&
      shape.packs <= kBlockFewPacks * most_threads_of_few_packs(p, shape.widths)) {
    return true;
  }
  return shape.packs <= kBlockManyPacks * most_threads_of_many_packs(shape.widths) &&
         !(p.backward && aligned);
}

// The distribution of a row for which fits_block().
inline SoftmaxBlock softmax_block(const SoftmaxProblem& p, const RowShape& shape) {
  const int packs = static_cast<int>(shape.packs);
  const auto threads_for = [packs](int held) {
    return std::max(kBlockFewestThreads, ((packs + held - 1) / held + 31) / 32 * 32);
  };
  if (shape.layout != Layout::kAny) {
    const int most = most_threads_of_few_packs(p, shape.widths);
    for (int held = kBlockFewPacks; held >= 1; --held) {
      const int threads = threads_for(held);
      if (threads <= most && threads * (held - 1) < packs) return {threads, held};
    }
  }
  return {threads_for(kBlockManyPacks), kBlockManyPacks};
}

// Why kernels for wide rows refuse rows that fit_block() takes.
constexpr const char* kFitsBlockReason =
    "a block's registers hold a row, and its bits must not depend on how many there are";

}  // namespace mygemm
