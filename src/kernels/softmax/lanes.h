// How rows are spread over lanes and threads: the plan and the launchers must agree on it. Depends
// on columns, types and layout only, so that a row's bits do not depend on how many rows there are.
// Pure.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/softmax/formats.h"

namespace mygemm {

// Packs, or single elements, that a lane of a row within a warp holds at most. Two to four packs
// are best: one leaves too few bytes in flight, and idle lanes cost as much as busy ones.
inline int most_packs_of_lane(const SoftmaxProblem& p) {
  if (layout_of(p) == Layout::kPacks) return 4;
  return widths_of(p) == Widths::kFp32 ? 16 : 8;
}

// 2^log2_lanes lanes share a row, and each holds `packs`, the last one perhaps not.
struct SoftmaxLanes {
  int log2_lanes, packs;
};

inline SoftmaxLanes softmax_lanes(const SoftmaxProblem& p) {
  const bool in_packs = layout_of(p) == Layout::kPacks;
  const int64_t packs = in_packs ? packs_of_row(p) : p.cols;
  const auto lanes = static_cast<uint64_t>(std::max<int64_t>(1, packs / (in_packs ? 2 : 4)));
  const int log2_lanes = std::min(static_cast<int>(std::bit_width(lanes)) - 1, 5);
  constexpr int64_t kTooMany = 1000;
  return {log2_lanes,
          static_cast<int>(std::min(ceil_div(packs, int64_t{1} << log2_lanes), kTooMany))};
}

// Whether a warp's registers hold a row.
inline bool fits_warp(const SoftmaxProblem& p) {
  return softmax_lanes(p).packs <= most_packs_of_lane(p);
}

// A block that shares a row: each thread holds `packs`, the last one perhaps not. packs = 0 where
// no block's registers hold the row.
struct SoftmaxBlock {
  int threads, packs;
};

constexpr int kBlockManyPacks = 8;  // of a thread, where four are too few

inline SoftmaxBlock softmax_block_of(const SoftmaxProblem& p) {
  constexpr int kFewest = 64, kMost = 1024, kMostOfGradient = 4;
  const int64_t packs = packs_of_row(p);
  // 512 threads are the most of which three blocks have room, or two of a gradient. (One block of
  // more threads: 12289 columns, fp32: 0.82 of a copy, a cluster 0.99; H200.)
  const int64_t few = p.backward && widths_of(p) == Widths::k16Bit ? kMost : 512;
  const auto threads_for = [packs](int64_t held) {
    return std::max<int64_t>(kFewest, ceil_div(ceil_div(packs, held), 32) * 32);
  };
  if (layout_of(p) != Layout::kAny) {
    for (int held = kMostOfGradient; held >= 1; --held) {
      const int64_t threads = threads_for(held);
      if (threads <= few && threads * (held - 1) < packs) return {static_cast<int>(threads), held};
    }
  }
  const int64_t threads = threads_for(kBlockManyPacks);
  // 1024 threads of 16-bit packs are slower than a cluster (65536 columns: 0.85, 0.89; H200).
  const int64_t most = widths_of(p) == Widths::k16Bit ? 512 : kMost;
  if (threads > most || (p.backward && layout_of(p) != Layout::kAny)) return {0, 0};
  return {static_cast<int>(threads), kBlockManyPacks};
}

inline bool fits_block(const SoftmaxProblem& p) { return softmax_block_of(p).packs > 0; }

}  // namespace mygemm
