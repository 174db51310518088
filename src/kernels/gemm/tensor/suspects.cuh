// Products on tensor cores: the sets of results that the guard works with, a bit for each result of
// a lane. Device only.
#pragma once

#include <cfloat>

#include "kernels/gemm/tensor/notes.cuh"

namespace mygemm::tensor {

// A set of a lane's results, as bits in the order of Results.
template <class Tile>
struct Marks {
  static constexpr int kWords = Tile::kBlockN / 2 / 32;
  static_assert(kWords * 64 == Tile::kBlockN, "bits are full");

  unsigned words[kWords] = {};

  __device__ __forceinline__ void add(int result) { words[result / 32] |= 1u << result % 32; }
  // Moves all marks 32 columns, which are 16 bits, towards the first column, and puts those of
  // found's first 32 columns behind them: after all columns have come, each has its place.
  __device__ __forceinline__ void append_columns(const Marks& found) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      words[w] = words[w] >> 16 | (w + 1 < kWords ? words[w + 1] : found.words[0]) << 16;
    }
  }
  __device__ __forceinline__ bool any() const {
    unsigned all = 0;
#pragma unroll
    for (const unsigned word : words) all |= word;
    return all != 0;
  }
  // The marks of the first 32 columns: 4 bits for each 8 columns, the lane's two in its upper row,
  // then in its lower one. The next ones become the first.
  __device__ __forceinline__ unsigned next_columns() {
    const unsigned bits = words[0] & 0xffff;
    append_columns({});
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
  __device__ __forceinline__ bool any() const { return wrong.any() || doubtful.any(); }
};

// Notes the marks of a warp by row of the group.
template <class Rows, class Tile>
__device__ __forceinline__ void note_marks(
    unsigned (&to)[kGroupRows][GuardNotes<Tile>::kColumnWords], Marks<Tile> marks, int warp,
    int lane) {
#pragma unroll 1
  for (int word = 0; word < GuardNotes<Tile>::kColumnWords; ++word) {
    const unsigned next = marks.next_columns();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned bits = 0;
#pragma unroll
      for (int eight = 0; eight < 4; ++eight) {
        bits |= (next >> (4 * eight + 2 * half) & 3) << (8 * eight + lane % 4 * 2);
      }
      // Four lanes have the columns of a row.
      bits |= __shfl_xor_sync(0xffffffffu, bits, 1);
      bits |= __shfl_xor_sync(0xffffffffu, bits, 2);
      if (lane % 4 == 0) to[Rows::row(warp, lane / 4 + 8 * half) % kGroupRows][word] = bits;
    }
  }
}

}  // namespace mygemm::tensor
