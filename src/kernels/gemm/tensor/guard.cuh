// Products on tensor cores: the guard, which finds results that three TF32 products cannot give,
// and computes those again by fused multiply-adds. Device only.
//
// Infinities and NaN, and values that round to an infinity where they are split, leave results that
// are not finite: one part of such a value is infinite or NaN, and the product of that with a zero
// is NaN. Such operands therefore always show in the results.
//
// Small values lose bits: a low part below 2^-125 is cut to a multiple of 2^-136. Such an error
// times the other operand's value, summed up over k, must not matter to a result. While they
// multiply, warps add up |A| and |B|; these sums nearly always prove that the results are right.
//
// All other results are suspects, among them 0, the sum of products with zeros. Once the tile is
// stored, and the results' registers are free, the warpgroup examines the rows and columns of the
// suspects: whether any value is small enough to lose bits, and which of them have a NaN. Only
// results that are undecided after that are computed again. Finding the smallest value of all tiles
// in the main loop instead cost 5 % at 4096^3 (H200: 110 TFLOP/s, against 116).
#pragma once

#include <cfloat>

#include "kernels/epilogue.cuh"
#include "kernels/gemm/persistent/fixup.cuh"
#include "kernels/gemm/strided.cuh"
#include "kernels/gemm/tensor/suspects.cuh"

namespace mygemm::tensor {

// A tile of the product that is computed, and its place in D, which may hold the transposed of that
// product.
struct Target {
  const GemmProblem& p;
  bool transposed;  // D holds D^T's rows as columns
  int64_t batch;
  int i, j;           // the tile's first row and column
  int rows, columns;  // from there on
  Scalars scalars;

  // The place of the tile's element (row, column).
  __device__ float* at(int64_t row, int64_t column) const {
    const int64_t m = i + row, n = j + column, ld = p.d.ld;
    return p.d.matrix<float>(batch) + (transposed ? m * ld + n : m + n * ld);
  }
  // Stores the result of one element.
  template <bool kFused>
  __device__ __forceinline__ void store(int row, int column, float sum) const {
    const TileOrigin element{batch, transposed ? j + column : i + row,
                             transposed ? i + row : j + column};
    with_instance_epilogue<kFused>(p, scalars, element, [&](const auto& epilogue) {
      store_result(at(row, column), 0, 0, sum, epilogue);
    });
  }
};

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

// Computes the marked ones of a warp's 16 x kBlockN results again, by fused multiply-adds, each in
// one chain in the order of k: the bits of the FP32 kernels that do not split k.
template <bool kFused, class Rows, class Tile>
__device__ __forceinline__ void recompute(const Target& to, Marks<Tile> results, int warp,
                                          int lane) {
  const GemmProblem& p = to.p;
  constexpr int kAtOnce = 8, kDepth = 4;
  const StridedOperand a = operand_a(p, to.batch), b = operand_b(p, to.batch);
  // A lane has a row, and every other one of 16 columns.
  const int index = lane % 16, odd = lane / 16, row = Rows::row(warp, index);
#pragma unroll 1
  for (int columns = 0; columns < Tile::kBlockN; columns += 2 * kAtOnce) {
    const unsigned own = results.template next_columns<2 * kAtOnce>();
    if (__all_sync(0xffffffffu, own == 0)) continue;
    unsigned wanted = 0;
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      const unsigned bits = __shfl_sync(0xffffffffu, own, index % 8 * 4 + c % 4);
      wanted |= (bits >> (c / 4 * 4 + index / 8 * 2 + odd) & 1) << c;
    }
    const int first = columns + odd;
    const float* from_a = a.data + (to.i + row) * a.along_tile;
    const float* from_b = b.data + (to.j + first) * b.along_tile;
    float sum[kAtOnce] = {};
#pragma unroll 1
    for (int64_t depth = 0; depth < p.k; depth += kDepth) {
      float x[kDepth], y[kDepth][kAtOnce];
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const bool there = depth + d < p.k;
        x[d] = ptx::load_4(from_a, wanted != 0 && there);
        const float* column = from_b;
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c) {
          y[d][c] = ptx::load_4(column, (wanted >> c & 1) != 0 && there);
          column = ptx::advanced(column, 2 * b.along_tile);
        }
        from_a = ptx::advanced(from_a, a.along_k);
        from_b = ptx::advanced(from_b, b.along_k);
      }
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        if (depth + d >= p.k) break;
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c) sum[c] = fmaf(x[d], y[d][c], sum[c]);
      }
    }
#pragma unroll
    for (int c = 0; c < kAtOnce; ++c) {
      if ((wanted >> c & 1) != 0) {
        to.store<kFused>(row, first + 2 * c, sum[c]);
      }
    }
  }
}

// Whether any warp of a consumer warpgroup passed true; all of them wait here for each other.
__device__ __forceinline__ bool any_in_group(bool value, int warp) {
  return ptx::any_at_barrier(kGuardBarrier + warp / kGroupWarps, 32 * kGroupWarps, value);
}

// Notes for the warps of a consumer warpgroup where each has suspects, and returns whether any has.
// Notes are read only where one has, and before the last meeting of such a tile: a warp that is a
// tile ahead writes none that another one still reads.
template <class Rows, class Tile>
__device__ __forceinline__ bool note_suspects(GuardNotes<Tile>& notes,
                                              const Suspects<Tile>& suspects, int warp, int lane) {
  using Notes = GuardNotes<Tile>;
  const int within = warp % kGroupWarps;
  Marks<Tile> all = suspects.all();
  const bool any = __any_sync(0xffffffffu, all.any());
  if (any) {
#pragma unroll 1
    for (int word = 0; word < Notes::kWords; ++word) {
      const unsigned marked =
          word < Notes::kRowWords
              ? rows_with<Rows>(all, (warp / kGroupWarps * 2 + word) * 32, warp, lane)
              : columns_with(all.template next_columns<32>(), lane);
      if (lane == 0) notes.lines[within][word] = marked;
    }
    const bool wrong = __any_sync(0xffffffffu, suspects.wrong.any());
    if (lane == 0) notes.wrong[within] = wrong;
  } else if (lane < Notes::kWords) {
    notes.lines[within][lane] = 0;
    notes.wrong[within] = false;
  }
  return any_in_group(any, warp);
}

// Looks at the lines of op(X) with suspects: those in the notes' words [first_word, end_word), the
// first of which has the 32 lines from `first` on. The warps of the warpgroup do so together; all
// get the smallest value.
template <class Tile>
__device__ __forceinline__ Smallest look_at_marked(GuardNotes<Tile>& notes, const StridedOperand& x,
                                                   int64_t first, int64_t k, bool for_nan,
                                                   int first_word, int end_word, int warp,
                                                   int lane) {
  constexpr int kWarps = kGroupWarps, kFew = 2;
  const int within = warp % kWarps;
  Smallest smallest;
#pragma unroll 1
  for (int word = first_word; word < end_word; ++word) {
    unsigned lines = 0;
    for (int w = 0; w < kWarps; ++w) lines |= notes.lines[w][word];
    Seen seen;
    const int64_t from = first + (word - first_word) * 32;
    if (__popc(lines) > kFew) {
      seen = look_at<kWarps>(x, from, lines, k, for_nan, within, lane);
    } else {
#pragma unroll 1
      for (; lines != 0; lines &= lines - 1) {
        seen.see(look_along<kWarps>(x, from, __ffs(lines) - 1, k, for_nan, within, lane));
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

// Looks at the rows and columns of the warpgroup's suspects, and returns whether finite results of
// such values may be wrong. The notes then have the lines with a NaN.
template <class Tile>
__device__ __forceinline__ bool may_be_wrong(GuardNotes<Tile>& notes, const Target& to, int warp,
                                             int lane) {
  const GemmProblem& p = to.p;
  using Notes = GuardNotes<Tile>;
  const int rows = to.i + warp / kGroupWarps * 64;
  bool wrong = false;
  for (int w = 0; w < kGroupWarps; ++w) wrong = wrong || notes.wrong[w];
  const Smallest b = look_at_marked(notes, operand_b(p, to.batch), to.j, p.k, wrong,
                                    Notes::kRowWords, Notes::kWords, warp, lane);
  if (b.none() && !wrong) return false;  // columns of zeros
  any_in_group(false, warp);             // all have read what the others found
  const Smallest a = look_at_marked(notes, operand_a(p, to.batch), rows, p.k, wrong, 0,
                                    Notes::kRowWords, warp, lane);
  return may_lose_bits(a, b, Tile::Method::kExact);
}

// Stores the suspects of a warp that the look has decided: zeros that are right, and NaN where an
// operand has one. Returns those that must be computed again.
template <bool kFused, class Rows, class Tile>
__device__ __forceinline__ Marks<Tile> settle(const GuardNotes<Tile>& notes, const Target& to,
                                              Suspects<Tile> suspects, int warp, int lane) {
  const auto nan_line = [&](int line) {  // rows of the group, then columns
    unsigned nan = 0;
    for (int w = 0; w < kGroupWarps; ++w) nan |= notes.nan[w][line / 32];
    return (nan >> line % 32 & 1) != 0;
  };
#pragma unroll 1
  for (int columns = 0; columns < Tile::kBlockN; columns += 8) {
    const unsigned doubtful = suspects.doubtful.template next_columns<8>();
    unsigned wrong = suspects.wrong.template next_columns<8>();
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      if (((doubtful | wrong) >> i & 1) == 0) continue;
      const int row = Rows::row(warp, lane / 4 + i / 2 * 8);
      const int column = columns + lane % 4 * 2 + i % 2;
      if ((doubtful >> i & 1) != 0) {
        if (to.scalars.beta != 0.0f) to.store<kFused>(row, column, 0.0f);
      } else if (nan_line(row % 64) || nan_line(64 + column)) {
        to.store<kFused>(row, column, NAN);
        wrong &= ~(1u << i);
      }
    }
    // The bits are back in their places after the last turn.
    suspects.wrong.words[Marks<Tile>::kWords - 1] |= wrong << 28;
  }
  return suspects.wrong;
}

}  // namespace mygemm::tensor
