// Products on tensor cores: the guard's look at lines of the operands, rows of op(A) or columns of
// op(B), for the smallest value and for NaN. Device only.
#pragma once

#include "kernels/gemm/tensor/notes.cuh"
#include "kernels/gemm/tensor/target.cuh"
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

// Looks at some of 32 lines, at every kGroupWarps-th 32 k.
template <Major kMajor>
__device__ __forceinline__ Seen look_at(const LinesOf<kMajor>& x, unsigned lines, int64_t k,
                                        bool for_nan, int within, int lane) {
  constexpr bool kAlongK = LinesOf<kMajor>::kAlongK;  // lanes are neighbours in memory
  const int64_t step = kAlongK ? x.to_next() : x.to_next_k();
  const float* block = x.first + lane + within * 32 * x.to_next_k();
  Seen seen;
#pragma unroll 1
  for (int64_t depth = within * 32; depth < k; depth += kGroupWarps * 32) {
    const int left = static_cast<int>(min(k - depth, int64_t{32}));
    const unsigned there = kAlongK                    ? lane < left ? lines : 0
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
      seen.nan |= kAlongK ? nan : nan != 0 ? 1u << lane : 0;
    }
    block = ptx::advanced(block, kGroupWarps * 32 * x.to_next_k());
  }
  return {seen.smallest.of_warp(), any_in_warp(seen.nan)};
}

// The same of one line, the index-th of 32, with loads of much of k in flight: random matrices
// leave one suspect or none, and the end of the product waits for it. 2048^3 with one result of 0
// in stream-K tiles: 170 us, against 179 where look_at() looks at single lines too (H200).
template <Major kMajor>
__device__ __forceinline__ Seen look_along(const LinesOf<kMajor>& line, int index, int64_t k,
                                           bool for_nan, int within, int lane) {
  constexpr int kLoads = 16, kRun = 32 * kLoads;  // k that a warp looks at at once
  Seen seen;
#pragma unroll 1
  for (int64_t depth = within * kRun + lane; depth < k; depth += kGroupWarps * kRun) {
    float values[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int64_t at = depth + 32 * i;
      values[i] = ptx::load_4(line.first + at * line.to_next_k(), at < k);
    }
#pragma unroll
    for (const float value : values) {
      seen.smallest.see(value);
      if (for_nan && isnan(value)) seen.nan = 1u << index;
    }
  }
  return {seen.smallest.of_warp(), any_in_warp(seen.nan)};
}

// Looks at the lines that are in words [begin, end) of the notes, the first of which is x's first.
// The warps of the warpgroup do so together; all get the smallest value, and may read which lines
// have a NaN.
template <Major kMajor, class Tile>
__device__ __forceinline__ Smallest look_at_noted(GuardNotes<Tile>& notes, const LinesOf<kMajor>& x,
                                                  int begin, int end, int64_t k, bool for_nan,
                                                  int warp, int lane) {
  constexpr int kFew = 2;
  const int within = warp % kGroupWarps;
  Smallest smallest;
#pragma unroll 1
  for (int word = begin; word < end; ++word) {
    unsigned lines = notes.lines[word];
    const int first = 32 * (word - begin);
    Seen seen;
    if (__popc(lines) > kFew) {
      seen = look_at(x.from(first), lines, k, for_nan, within, lane);
    } else {
#pragma unroll 1
      for (; lines != 0; lines &= lines - 1) {
        const int index = __ffs(lines) - 1;
        seen.see(look_along(x.from(first + index), index, k, for_nan, within, lane));
      }
    }
    smallest.see(seen.smallest);
    if (lane == 0) notes.nan[within][word] = seen.nan;
  }
  if (lane == 0) notes.smallest[within] = smallest;
  any_in_group(false, warp);
  for (int w = 0; w < kGroupWarps; ++w) smallest.see(notes.smallest[w]);
  return smallest;
}

}  // namespace mygemm::tensor
