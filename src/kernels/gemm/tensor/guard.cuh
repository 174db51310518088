// Products on tensor cores: the guard, which finds results that tensor cores cannot give, and has
// them computed again by fused multiply-adds (repair.cuh). Device only.
//
// Infinities and NaN, and values that round to an infinity where they are split, leave results that
// are not finite: one part of such a value is infinite or NaN, and the product of that with a zero
// is NaN. Such operands therefore always show in the results.
//
// Small values lose bits: parts are denormal, or sums are. Such an error times the other operand's
// value, summed up over k, must not matter to a result. While they multiply, warps add up |A| and
// |B|; these sums nearly always prove that the results are right.
//
// All other results are suspects, for three TF32 products among them 0, the sum of products with
// zeros. Once the tile is stored, and the results' registers are free, the warpgroup examines the
// rows and columns of the suspects: whether any value is small enough to lose bits, and which of
// them have a NaN. Only results that are undecided after that are computed again. Finding the
// smallest value of all tiles in the main loop of three TF32 products instead cost 5 % at 4096^3
// (H200: 110 TFLOP/s, against 116).
#pragma once

#include "kernels/gemm/tensor/look.cuh"
#include "kernels/gemm/tensor/repair.cuh"
#include "kernels/gemm/tensor/rows.cuh"
#include "kernels/gemm/tensor/suspects.cuh"

namespace mygemm::tensor {

// Notes the rows and the columns with suspects, and that no NaN has been found in any.
template <class Tile>
__device__ __forceinline__ void note_lines(GuardNotes<Tile>& notes, int warp, int lane) {
  using Notes = GuardNotes<Tile>;
#pragma unroll 1
  for (int word = warp % kGroupWarps; word < Notes::kWords; word += kGroupWarps) {
    unsigned any = 0, lines;
    if (word < Notes::kRowWords) {
      const int row = 32 * word + lane;
      for (int w = 0; w < Notes::kColumnWords; ++w) {
        any |= notes.wrong[row][w] | notes.doubtful[row][w];
      }
      lines = __ballot_sync(0xffffffffu, any != 0);
    } else {
      for (int row = lane; row < kGroupRows; row += 32) {
        const int w = word - Notes::kRowWords;
        any |= notes.wrong[row][w] | notes.doubtful[row][w];
      }
      lines = any_in_warp(any);
    }
    if (lane == 0) notes.lines[word] = lines;
    if (lane < kGroupWarps) notes.nan[lane][word] = 0;
  }
  any_in_group(false, warp);
}

// A bit for each line of a word of the notes in which a NaN was found.
template <class Tile>
__device__ __forceinline__ unsigned nan_lines(const GuardNotes<Tile>& notes, int word) {
  unsigned nan = 0;
  for (int w = 0; w < kGroupWarps; ++w) nan |= notes.nan[w][word];
  return nan;
}

// Looks at the rows and columns of the suspects, as far as that may decide something: fewer lines
// first, and the others unless all is known or few lines are left to be computed again, which takes
// no longer. Returns whether finite suspects may be wrong.
template <class Operands, class Tile>
__device__ __forceinline__ bool may_be_wrong(GuardNotes<Tile>& notes, const Target& to, int warp,
                                             int lane) {
  using Notes = GuardNotes<Tile>;
  bool wrong = false, doubtful = false;
  for (int row = lane; row < kGroupRows; row += 32) {
    for (int w = 0; w < Notes::kColumnWords; ++w) {
      wrong = wrong || notes.wrong[row][w] != 0;
      doubtful = doubtful || notes.doubtful[row][w] != 0;
    }
  }
  wrong = __any_sync(0xffffffffu, wrong);
  doubtful = __any_sync(0xffffffffu, doubtful);
  const int rows = notes.count_lines(0, Notes::kRowWords);
  const int columns = notes.count_lines(Notes::kRowWords, Notes::kWords);
  Smallest of_a, of_b;
#pragma unroll 1
  for (bool of_rows = rows <= columns, first = true;; of_rows = !of_rows, first = false) {
    const int begin = of_rows ? 0 : Notes::kRowWords;
    const int end = of_rows ? Notes::kRowWords : Notes::kWords;
    if (of_rows) {
      of_a = look_at_noted(notes, to.rows_from<Operands>(first_row_of(warp)), begin, end, to.p.k,
                           wrong, warp, lane);
    } else {
      of_b =
          look_at_noted(notes, to.columns_from<Operands>(0), begin, end, to.p.k, wrong, warp, lane);
    }
    if (!first) return may_lose_bits(of_a, of_b, Tile::Method::kExact);
    int left = 0;  // lines without a NaN
    for (int word = begin; word < end; ++word) {
      left += __popc(notes.lines[word] & ~nan_lines(notes, word));
    }
    const bool many_left = min(left, of_rows ? columns : rows) > Notes::kFewLines;
    const bool all_zero = of_rows ? of_a.none() : of_b.none();
    if (!(doubtful && !all_zero) && !(wrong && many_left)) return false;
    any_in_group(false, warp);  // all have read what the others found
  }
}

// Stores the suspects that the look has decided: zeros that are right, and NaN where an operand has
// one. The notes keep those that must be computed again; returns whether there are any.
template <bool kFused, class Tile>
__device__ __forceinline__ bool settle(GuardNotes<Tile>& notes, const Target& to, bool may_be_wrong,
                                       int warp, int lane) {
  using Notes = GuardNotes<Tile>;
  const int thread = warp % kGroupWarps * 32 + lane, row = thread % kGroupRows;
  const bool nan_row = (nan_lines(notes, row / 32) >> row % 32 & 1) != 0;
  unsigned left = 0;
#pragma unroll 1
  for (int word = thread / kGroupRows; word < Notes::kColumnWords;
       word += 32 * kGroupWarps / kGroupRows) {
    unsigned wrong = notes.wrong[row][word], zeros = notes.doubtful[row][word];
    if (may_be_wrong) wrong |= zeros, zeros = 0;
    if (to.scalars.beta == 0.0f) zeros = 0;  // they are stored
    const unsigned nan = nan_row ? wrong : wrong & nan_lines(notes, Notes::kRowWords + word);
#pragma unroll 1
    for (unsigned known = nan | zeros; known != 0; known &= known - 1) {
      const int column = __ffs(known) - 1;
      to.store<kFused>(first_row_of(warp) + row, 32 * word + column,
                       (nan >> column & 1) != 0 ? NAN : 0.0f);
    }
    notes.wrong[row][word] = wrong & ~nan;
    notes.doubtful[row][word] = 0;
    left |= wrong & ~nan;
  }
  return any_in_group(left != 0, warp);
}

// Has the suspects of a tile examined, and computed again where they must be. The warps of a
// consumer warpgroup call it together, once they know of each other that one has suspects: then all
// have done with the notes of the tile before.
template <bool kFused, class Operands, class Tile>
__device__ __forceinline__ void examine(GuardNotes<Tile>& notes, const Suspects<Tile>& suspects,
                                        const Target& to, int warp, int lane) {
  note_marks<RowsOf<Tile, Operands>, Tile>(notes.wrong, suspects.wrong, warp, lane);
  note_marks<RowsOf<Tile, Operands>, Tile>(notes.doubtful, suspects.doubtful, warp, lane);
  any_in_group(false, warp);
  note_lines(notes, warp, lane);
  const bool wrong = may_be_wrong<Operands>(notes, to, warp, lane);
  if (!settle<kFused>(notes, to, wrong, warp, lane)) return;
  note_lines(notes, warp, lane);
  repair<kFused, Operands>(notes, to, warp, lane);
}

}  // namespace mygemm::tensor
