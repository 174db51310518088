// Products on tensor cores: the sets of results that the guard works with, a bit for each result of
// a lane. Device only.
#pragma once

#include <cfloat>

#include "kernels/gemm/tensor/rows.cuh"

namespace mygemm::tensor {

// A set of a lane's results, as bits in the order of Results.
template <class Tile>
struct Marks {
  static constexpr int kWords = Tile::kBlockN / 2 / 32;
  static_assert(kWords * 64 == Tile::kBlockN, "bits are full");

  unsigned words[kWords] = {};

  __device__ __forceinline__ void add(int result) { words[result / 32] |= 1u << result % 32; }
  __device__ __forceinline__ void add(const Marks& more) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] |= more.words[w];
  }
  // Moves all marks 32 columns, which are 16 bits, towards the first column, and puts those of
  // found's first 32 columns behind them: after all columns have come, each has its place.
  __device__ __forceinline__ void append_columns(const Marks& found) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      words[w] = words[w] >> 16 | (w + 1 < kWords ? words[w + 1] : found.words[0]) << 16;
    }
  }
  __device__ __forceinline__ bool any() const { return any_in_half(0) || any_in_half(1); }
  // Any in the lane's upper row (0), or its lower one (1).
  __device__ __forceinline__ bool any_in_half(int half) const {
    unsigned all = 0;
#pragma unroll
    for (const unsigned word : words) all |= word >> 2 * half & 0x33333333;
    return all != 0;
  }
  // The marks of the first kColumns columns: 4 bits for each 8 columns, the lane's two in its upper
  // row, then in its lower one. The next ones become the first.
  template <int kColumns>
  __device__ __forceinline__ unsigned next_columns() {
    constexpr int kBits = kColumns / 2;
    const unsigned bits = words[0] & ((1u << kBits) - 1);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      words[w] = words[w] >> kBits | (w + 1 < kWords ? words[w + 1] << (32 - kBits) : 0);
    }
    return bits;
  }
};

// The results of a lane that failed the error check. Those that are finite, and stored already or
// 0, are `doubtful`: they are right unless the operands say otherwise. The others, which would
// have to be kept, are `wrong`: they are computed again, unless NaN is right.
template <class Tile>
struct Suspects {
  Marks<Tile> wrong, doubtful;

  __device__ __forceinline__ void add(int result, float value, bool stored) {
    const bool known = stored ? fabsf(value) <= FLT_MAX : value == 0.0f;
    known ? doubtful.add(result) : wrong.add(result);
  }
  // See Marks::append_columns().
  __device__ __forceinline__ void append_columns(const Suspects& found) {
    wrong.append_columns(found.wrong);
    doubtful.append_columns(found.doubtful);
  }
  __device__ __forceinline__ Marks<Tile> all() const {
    Marks<Tile> either = wrong;
    either.add(doubtful);
    return either;
  }
};

// The bitwise or over the lanes of a warp.
__device__ __forceinline__ unsigned any_in_warp(unsigned bits) {
  for (int apart = 16; apart > 0; apart /= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, apart);
  return bits;
}

// A bit for each of the 32 rows from row `first` of the tile on in which results of the warp are
// marked; columns_with(): for each of 32 columns.
template <class Rows, class Tile>
__device__ __forceinline__ unsigned rows_with(const Marks<Tile>& results, int first, int warp,
                                              int lane) {
  unsigned marks = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = Rows::row(warp, lane / 4 + 8 * half) - first;
    if (row >= 0 && row < 32 && results.any_in_half(half)) marks |= 1u << row;
  }
  return any_in_warp(marks);
}
// `next` are the marks in these columns, as next_columns() gives them.
__device__ __forceinline__ unsigned columns_with(unsigned next, int lane) {
  unsigned marks = 0;
#pragma unroll
  for (int eight = 0; eight < 4; ++eight) {
    const unsigned bits = next >> 4 * eight;
    marks |= ((bits | bits >> 2) & 3) << (8 * eight + lane % 4 * 2);
  }
  return any_in_warp(marks);
}

}  // namespace mygemm::tensor
