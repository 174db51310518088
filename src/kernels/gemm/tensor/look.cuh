// Products on tensor cores: the guard's look at lines of the operands, rows of op(A) or columns of
// op(B), for the smallest value and for NaN. Device only.
#pragma once

#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/tensor/notes.cuh"
#include "ptx/global.cuh"

namespace mygemm::tensor {

// The findings of a warp in 32 lines: the smallest value, and, if asked for, a bit for each line
// with a NaN.
struct Seen {
  Smallest smallest;
  unsigned nan = 0;

  __device__ __forceinline__ void see(const Seen& others) {
    smallest.see(others.smallest);
    nan |= others.nan;
  }
};

// Looks at some of 32 lines of op(X), rows of op(A) or columns of op(B), from the line `first` on,
// at every kWarps-th 32 k.
template <int kWarps>
__device__ __forceinline__ Seen look_at(const StridedOperand& x, int64_t first, unsigned lines,
                                        int64_t k, bool for_nan, int warp, int lane) {
  const bool along_k = x.along_k == 1;  // then lanes are neighbours along k, else along the lines
  const int64_t step = along_k ? x.along_tile : x.along_k;
  const float* block = x.data + first * x.along_tile + lane + warp * 32 * x.along_k;
  Seen seen;
#pragma unroll 1
  for (int64_t depth = warp * 32; depth < k; depth += kWarps * 32) {
    const int left = static_cast<int>(min(k - depth, int64_t{32}));
    const unsigned there = along_k                    ? lane < left ? lines : 0
                           : (lines >> lane & 1) != 0 ? 0xffffffffu >> (32 - left)
                                                      : 0;
    const float* from = block;
    float values[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      values[i] = ptx::load_4(from, (there >> i & 1) != 0);
      from = ptx::advanced(from, step);
    }
#pragma unroll
    for (const float value : values) seen.smallest.see(value);
    if (for_nan) {
      unsigned nan = 0;
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        if (isnan(values[i])) nan |= 1u << i;
      }
      seen.nan |= along_k ? nan : nan != 0 ? 1u << lane : 0;
    }
    block = ptx::advanced(block, kWarps * 32 * x.along_k);
  }
  return {seen.smallest.of_warp(), any_in_warp(seen.nan)};
}

// The same of one line, the index-th of them, with loads of much of k in flight: random matrices
// leave one suspect or none, and the end of the product waits for it. 2048^3 with one result of 0
// in stream-K tiles: 170 us, against 179 where look_at() looks at single lines too (H200).
template <int kWarps>
__device__ __forceinline__ Seen look_along(const StridedOperand& x, int64_t first, int index,
                                           int64_t k, bool for_nan, int warp, int lane) {
  constexpr int kLoads = 16, kRun = 32 * kLoads;  // k that a warp looks at at once
  const float* line = x.data + (first + index) * x.along_tile;
  Seen seen;
#pragma unroll 1
  for (int64_t depth = warp * kRun + lane; depth < k; depth += kWarps * kRun) {
    float values[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int64_t at = depth + 32 * i;
      values[i] = ptx::load_4(line + at * x.along_k, at < k);
    }
#pragma unroll
    for (const float value : values) {
      seen.smallest.see(value);
      if (for_nan && isnan(value)) seen.nan = 1u << index;
    }
  }
  return {seen.smallest.of_warp(), any_in_warp(seen.nan)};
}

// The lines of an operand that a warpgroup's results come from, and where the notes are on them.
struct Lines {
  StridedOperand operand;
  int64_t first;
  int word, end_word;  // of GuardNotes::lines, 32 lines each
};

// Looks at the lines in the notes. The warps of the warpgroup do so together; all get the smallest
// value, and may read which lines have a NaN.
template <class Tile>
__device__ __forceinline__ Smallest look_at_noted(GuardNotes<Tile>& notes, const Lines& at,
                                                  int64_t k, bool for_nan, int warp, int lane) {
  constexpr int kWarps = kGroupWarps, kFew = 2;
  const int within = warp % kWarps;
  Smallest smallest;
#pragma unroll 1
  for (int word = at.word; word < at.end_word; ++word) {
    unsigned lines = notes.lines[word];
    Seen seen;
    const int64_t from = at.first + (word - at.word) * 32;
    if (__popc(lines) > kFew) {
      seen = look_at<kWarps>(at.operand, from, lines, k, for_nan, within, lane);
    } else {
#pragma unroll 1
      for (; lines != 0; lines &= lines - 1) {
        seen.see(look_along<kWarps>(at.operand, from, __ffs(lines) - 1, k, for_nan, within, lane));
      }
    }
    smallest.see(seen.smallest);
    if (lane == 0) notes.nan[within][word] = seen.nan;
  }
  if (lane == 0) notes.smallest[within] = smallest;
  any_in_group(false, warp);
  for (int w = 0; w < kWarps; ++w) smallest.see(notes.smallest[w]);
  return smallest;
}

}  // namespace mygemm::tensor
