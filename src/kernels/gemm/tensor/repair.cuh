// Products on tensor cores: the repair, which computes results that the guard found wrong again, by
// fused multiply-adds from global memory. Device only.
//
// Few rows or columns with such results, as an infinity leaves them, are products of a matrix and a
// vector: all warps of the warpgroup read the other operand's lines once for each, at the speed of
// L2. Otherwise the warpgroup multiplies its 64 rows by 64 columns at a time, from shared memory.
// Only results that are marked are stored. The order of the sums is fixed.
#pragma once

#include "kernels/gemm/tensor/notes.cuh"
#include "kernels/gemm/tensor/target.cuh"
#include "ptx/global.cuh"

namespace mygemm::tensor {

// Moves all values kPlaces towards the first, and the first ones to the end.
template <int kPlaces, int kCount>
__device__ __forceinline__ void rotate(float (&values)[kCount]) {
  float first[kPlaces];
#pragma unroll
  for (int i = 0; i < kPlaces; ++i) first[i] = values[i];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    values[i] = i + kPlaces < kCount ? values[i + kPlaces] : first[i + kPlaces - kCount];
  }
}

// Adds up sum[i] over the lanes of a warp, and returns the i-th to lane i.
template <int kCount>
__device__ __forceinline__ float sums_over_lanes(float (&sum)[kCount], int lane) {
  if constexpr (kCount == 1) {
    return sum[0];
  } else {
    constexpr int kHalf = kCount / 2;
    const bool upper = (lane & kHalf) != 0;
    float half[kHalf];
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float passed = __shfl_xor_sync(0xffffffffu, upper ? sum[i] : sum[i + kHalf], kHalf);
      half[i] = (upper ? sum[i + kHalf] : sum[i]) + passed;
    }
    return sums_over_lanes(half, lane);
  }
}

// The sums of a warp's part of k of the products of a line, with 32 lines that begin at y, of which
// `wanted` says which matter: lane i returns the i-th. k of the lines of y are neighbours. Loads of
// 4 lines are in flight, whose sums then move on in their registers: unrolled, all would be.
__device__ __forceinline__ float multiply_along_k(const float* x, int64_t x_along_k, const float* y,
                                                  int64_t y_along_tile, unsigned wanted, int64_t k,
                                                  int within, int lane) {
  constexpr int kLoads = 8, kRun = 32 * kLoads, kAtOnce = 4;
  float sum[32] = {};
#pragma unroll 1
  for (int64_t depth = within * kRun; depth < k; depth += kGroupWarps * kRun) {
    const int left = static_cast<int>(min(k - depth, int64_t{kRun})) - lane;
    const float* place = x + (depth + lane) * x_along_k;
    float of_x[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      of_x[i] = ptx::load_4(place, 32 * i < left);
      place = ptx::advanced(place, 32 * x_along_k);
    }
    const float* line = y + depth + lane;
    unsigned matters = wanted;
#pragma unroll 1
    for (int first = 0; first < 32; first += kAtOnce) {
      float of_y[kAtOnce][kLoads];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
          of_y[j][i] = ptx::load_4(line + 32 * i, (matters >> j & 1) != 0 && 32 * i < left);
        }
        line = ptx::advanced(line, y_along_tile);
      }
      matters >>= kAtOnce;
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
        for (int i = 0; i < kLoads; ++i) sum[j] = fmaf(of_x[i], of_y[j][i], sum[j]);
      }
      rotate<kAtOnce>(sum);
    }
  }
  return sums_over_lanes(sum, lane);
}

// The same where the lines of y are neighbours for each k.
__device__ __forceinline__ float multiply_across(const float* x, int64_t x_along_k, const float* y,
                                                 int64_t y_along_k, unsigned wanted, int64_t k,
                                                 int within, int lane) {
  const bool matters = (wanted >> lane & 1) != 0;
  float sum = 0.0f;
#pragma unroll 1
  for (int64_t depth = within * 32; depth < k; depth += kGroupWarps * 32) {
    const float of_x = ptx::load_4(x + (depth + lane) * x_along_k, depth + lane < k);
    const float* line = y + depth * y_along_k + lane;
    float of_y[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      of_y[i] = ptx::load_4(line, matters && depth + i < k);
      line = ptx::advanced(line, y_along_k);
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      sum = fmaf(__shfl_sync(0xffffffffu, of_x, i), of_y[i], sum);
    }
  }
  return sum;
}

// Computes the marked results of one row of the group again (kOfRow), or of one column of the tile.
template <bool kFused, bool kOfRow, class Tile>
__device__ __forceinline__ void repair_line(GuardNotes<Tile>& notes, const Target& to, int line,
                                            int warp, int lane) {
  constexpr int kOthers = kOfRow ? Tile::kBlockN : kGroupRows;
  const int within = warp % kGroupWarps, first_row = warp / kGroupWarps * kGroupRows;
  const StridedOperand a = operand_a(to.p, to.batch), b = operand_b(to.p, to.batch);
  const float* rows = a.data + (to.i + first_row) * a.along_tile;
  const float* columns = b.data + to.j * b.along_tile;
  const StridedOperand x = kOfRow ? StridedOperand{rows, a.along_tile, a.along_k}
                                  : StridedOperand{columns, b.along_tile, b.along_k};
  const StridedOperand y = kOfRow ? StridedOperand{columns, b.along_tile, b.along_k}
                                  : StridedOperand{rows, a.along_tile, a.along_k};
  const float* from_x = x.data + line * x.along_tile;
  unsigned turn = 0;  // while warp 0 adds up sums, the next ones go to other places
#pragma unroll 1
  for (int word = 0; word < kOthers / 32; ++word) {
    unsigned wanted;
    if (kOfRow) {
      wanted = notes.wrong[line][word];
    } else {
      const unsigned columns_of_row = notes.wrong[32 * word + lane][line / 32];
      wanted = __ballot_sync(0xffffffffu, (columns_of_row >> line % 32 & 1) != 0);
    }
    if (wanted == 0) continue;
    const float* from_y = y.data + 32 * word * y.along_tile;
    float(&partial)[kGroupWarps][32] = notes.partial[turn++ % 2];
    partial[within][lane] =
        y.along_k == 1
            ? multiply_along_k(from_x, x.along_k, from_y, y.along_tile, wanted, to.p.k, within,
                               lane)
            : multiply_across(from_x, x.along_k, from_y, y.along_k, wanted, to.p.k, within, lane);
    any_in_group(false, warp);
    if (within > 0 || (wanted >> lane & 1) == 0) continue;
    float sum = partial[0][lane];
    for (int w = 1; w < kGroupWarps; ++w) sum += partial[w][lane];
    const int other = 32 * word + lane;
    to.store<kFused>(first_row + (kOfRow ? line : other), kOfRow ? other : line, sum);
  }
  any_in_group(false, warp);  // the next line's sums go to the same places
}

// The elements of a step that a thread brings: some of 64 lines by kDepth k, from its first line
// on.
template <class Tile>
struct StepOfLines {
  static constexpr int kDepth = GuardNotes<Tile>::kDepth, kLines = kGroupRows;
  static constexpr int kThreads = 32 * kGroupWarps, kCount = kLines * kDepth / kThreads;

  const float* from;
  int64_t step, along_k;  // to the next element, to the next step
  int line, k, lines, to_next_line, to_next_k;
  float values[kCount];

  // lines: that are inside the matrix.
  __device__ __forceinline__ StepOfLines(const StridedOperand& x, int64_t first, int lines_,
                                         int thread)
      : along_k(x.along_k), lines(lines_) {
    const bool neighbours = x.along_k == 1;  // k of a line are neighbours
    k = neighbours ? thread % kDepth : thread / kLines;
    line = neighbours ? thread / kDepth : thread % kLines;
    to_next_line = neighbours ? kThreads / kDepth : 0;
    to_next_k = neighbours ? 0 : kThreads / kLines;
    from = x.data + (first + line) * x.along_tile + k * x.along_k;
    step = to_next_line * x.along_tile + to_next_k * x.along_k;
  }
  // `left`: k from the step on.
  __device__ __forceinline__ void load(int64_t left) {
    const float* at = from;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = ptx::load_4(at, line + i * to_next_line < lines && k + i * to_next_k < left);
      at = ptx::advanced(at, step);
    }
    from = ptx::advanced(from, kDepth * along_k);
  }
  template <int kPitch>
  __device__ __forceinline__ void store(float (&to)[kDepth][kPitch]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[k + i * to_next_k][line + i * to_next_line] = values[i];
  }
};

// Computes the marked results of the group in 64 columns from `first_column` on again. A thread has
// 8 rows of 4 columns. Sums over kRun k are added to those before.
template <bool kFused, class Tile>
__device__ __forceinline__ void repair_block(GuardNotes<Tile>& notes, const Target& to,
                                             int first_column, int warp) {
  using Notes = GuardNotes<Tile>;
  constexpr int kRows = 8, kColumns = 4, kRun = 512;
  // Derived from this, all that the blocks have in common takes no registers for all of them.
  const int thread = ptx::thread_again() % (32 * kGroupWarps);
  const int within = thread / 32, lane = thread % 32, first_row = warp / kGroupWarps * kGroupRows;
  const int row = (within / 2 * 4 + lane / 8) * 4, column = (within % 2 * 8 + lane % 8) * 4;
  const auto row_of = [row](int i) { return row + i % 4 + i / 4 * 32; };
  unsigned wanted = 0;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const unsigned marks = notes.wrong[row_of(i)][(first_column + column) / 32];
    wanted |= (marks >> column % 32 & 0xf) << 4 * i;
  }
  if (!any_in_group(wanted != 0, warp)) return;

  const int64_t k = to.p.k;
  StepOfLines<Tile> of_a(operand_a(to.p, to.batch), to.i + first_row, to.rows - first_row, thread);
  StepOfLines<Tile> of_b(operand_b(to.p, to.batch), to.j + first_column, to.columns - first_column,
                         thread);
  float total[kRows][kColumns] = {}, sum[kRows][kColumns] = {};
  of_a.load(k), of_b.load(k);
#pragma unroll 1
  for (int64_t depth = 0; depth < k; depth += Notes::kDepth) {
    any_in_group(false, warp);  // all have read the step before
    of_a.store(notes.a), of_b.store(notes.b);
    any_in_group(false, warp);
    const int64_t left = k - depth - Notes::kDepth;
    of_a.load(left), of_b.load(left);
#pragma unroll
    for (int d = 0; d < Notes::kDepth; ++d) {
      const float4 upper = *reinterpret_cast<const float4*>(&notes.a[d][row]);
      const float4 lower = *reinterpret_cast<const float4*>(&notes.a[d][row + 32]);
      const float4 y = *reinterpret_cast<const float4*>(&notes.b[d][column]);
      const float x[kRows] = {upper.x, upper.y, upper.z, upper.w,
                              lower.x, lower.y, lower.z, lower.w};
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        sum[i][0] = fmaf(x[i], y.x, sum[i][0]), sum[i][1] = fmaf(x[i], y.y, sum[i][1]);
        sum[i][2] = fmaf(x[i], y.z, sum[i][2]), sum[i][3] = fmaf(x[i], y.w, sum[i][3]);
      }
    }
    if (depth % kRun != kRun - Notes::kDepth && left > 0) continue;
    bool may_change = false;  // NaN stays
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        total[i][j] += sum[i][j];
        sum[i][j] = 0.0f;
        may_change = may_change || ((wanted >> (4 * i + j) & 1) != 0 && !isnan(total[i][j]));
      }
    }
    if (!any_in_group(may_change, warp)) break;
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if ((wanted >> (4 * i + j) & 1) == 0) continue;
      to.store<kFused>(first_row + row_of(i), first_column + column + j, total[i][j]);
    }
  }
}

// Computes the marked results of a warpgroup again; its warps call it together.
template <bool kFused, class Tile>
__device__ __forceinline__ void repair(GuardNotes<Tile>& notes, const Target& to, int warp,
                                       int lane) {
  using Notes = GuardNotes<Tile>;
  const int rows = notes.count_lines(0, Notes::kRowWords);
  const int columns = notes.count_lines(Notes::kRowWords, Notes::kWords);
  if (min(rows, columns) > Notes::kFewLines) {
#pragma unroll 1
    for (int column = 0; column < Tile::kBlockN; column += kGroupRows) {
      repair_block<kFused>(notes, to, column, warp);
    }
    return;
  }
  const bool of_rows = rows <= columns;
#pragma unroll 1
  for (int word = of_rows ? 0 : Notes::kRowWords;
       word < (of_rows ? Notes::kRowWords : Notes::kWords); ++word) {
#pragma unroll 1
    for (unsigned lines = notes.lines[word]; lines != 0; lines &= lines - 1) {
      const int line = 32 * word + __ffs(lines) - 1;
      if (of_rows) {
        repair_line<kFused, true>(notes, to, line, warp, lane);
      } else {
        repair_line<kFused, false>(notes, to, line - 32 * Notes::kRowWords, warp, lane);
      }
    }
  }
}

}  // namespace mygemm::tensor
