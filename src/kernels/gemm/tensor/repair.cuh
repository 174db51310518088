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

// The sums of a warp's part of k of the products of line x with 32 lines from y on, of which
// `wanted` says which matter: lane i returns the i-th.
template <class Tile, Major kX, Major kY>
__device__ __forceinline__ float multiply_lines(const LinesOf<kX>& x, const LinesOf<kY>& y,
                                                unsigned wanted, int64_t k, int within, int lane) {
  if constexpr (LinesOf<kY>::kAlongK) {
    // Loads of as many lines as registers allow are in flight, whose sums then move on in their
    // registers: unrolled, those of all lines would be.
    constexpr int kLoads = 8, kRun = 32 * kLoads, kAtOnce = Tile::kConsumerRegisters > 200 ? 8 : 4;
    float sum[32] = {};
#pragma unroll 1
    for (int64_t depth = within * kRun; depth < k; depth += kGroupWarps * kRun) {
      const int left = static_cast<int>(min(k - depth, int64_t{kRun})) - lane;
      const float* place = x.first + (depth + lane) * x.to_next_k();
      float of_x[kLoads];
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        of_x[i] = ptx::load_4(place, 32 * i < left);
        place = ptx::advanced(place, 32 * x.to_next_k());
      }
      const float* line = y.first + depth + lane;
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
          line = ptx::advanced(line, y.ld);
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
  } else {
    const bool matters = (wanted >> lane & 1) != 0;
    float sum = 0.0f;
#pragma unroll 1
    for (int64_t depth = within * 32; depth < k; depth += kGroupWarps * 32) {
      const int left = static_cast<int>(min(k - depth, int64_t{32}));
      const float of_x = ptx::load_4(x.first + (depth + lane) * x.to_next_k(), lane < left);
      const float* line = y.first + depth * y.ld + lane;
      float of_y[32];
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        of_y[i] = ptx::load_4(line, matters && i < left);
        line = ptx::advanced(line, y.ld);
      }
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        sum = fmaf(__shfl_sync(0xffffffffu, of_x, i), of_y[i], sum);
      }
    }
    return sum;
  }
}

// Computes the marked results of one row of the group again (kOfRow), or of one column of the tile:
// x is that line, y the first of those of the other operand.
template <bool kFused, bool kOfRow, Major kX, Major kY, class Tile>
__device__ __forceinline__ void repair_line(GuardNotes<Tile>& notes, const Target& to, int line,
                                            const LinesOf<kX>& x, const LinesOf<kY>& y, int warp,
                                            int lane) {
  constexpr int kOthers = kOfRow ? Tile::kBlockN : kGroupRows;
  const int within = warp % kGroupWarps;
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
    float(&partial)[kGroupWarps][32] = notes.partial[turn++ % 2];
    partial[within][lane] =
        multiply_lines<Tile>(x, y.from(32 * word), wanted, to.p.k, within, lane);
    any_in_group(false, warp);
    if (within > 0 || (wanted >> lane & 1) == 0) continue;
    float sum = partial[0][lane];
    for (int w = 1; w < kGroupWarps; ++w) sum += partial[w][lane];
    const int other = 32 * word + lane, first_row = first_row_of(warp);
    to.store<kFused>(first_row + (kOfRow ? line : other), kOfRow ? other : line, sum);
  }
  any_in_group(false, warp);  // the next line's sums go to the same places
}

// The elements of steps of kDepth k that a thread brings: some of each step of 64 lines.
template <Major kMajor, class Tile>
struct StepOfLines {
  static constexpr bool kAlongK = LinesOf<kMajor>::kAlongK;
  static constexpr int kDepth = GuardNotes<Tile>::kDepth, kLines = kGroupRows;
  static constexpr int kThreads = 32 * kGroupWarps, kCount = kLines * kDepth / kThreads;
  // From one of the thread's elements to the next.
  static constexpr int kNextLine = kAlongK ? kThreads / kDepth : 0;
  static constexpr int kNextK = kAlongK ? 0 : kThreads / kLines;

  LinesOf<kMajor> at;  // the first element
  int line, k, lines;
  float values[kCount];

  // lines: that are inside the matrix.
  __device__ __forceinline__ StepOfLines(const LinesOf<kMajor>& first, int lines_, int thread)
      : at(first),
        line(kAlongK ? thread / kDepth : thread % kLines),
        k(kAlongK ? thread % kDepth : thread / kLines),
        lines(lines_) {
    at.first += line * at.to_next() + k * at.to_next_k();
  }
  // Loads the next step's. `left`: k from the step on.
  __device__ __forceinline__ void load(int64_t left) {
    const float* from = at.first;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[i] = ptx::load_4(from, line + i * kNextLine < lines && k + i * kNextK < left);
      from = ptx::advanced(from, kNextLine * at.to_next() + kNextK * at.to_next_k());
    }
    at.first = ptx::advanced(at.first, kDepth * at.to_next_k());
  }
  template <int kPitch>
  __device__ __forceinline__ void store(float (&to)[kDepth][kPitch]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[k + i * kNextK][line + i * kNextLine] = values[i];
  }
};

// Computes the marked results of the group in 64 columns from `first_column` on again. A thread has
// 8 rows of 4 columns. Sums over kRun k are added to those before.
template <bool kFused, class Operands, class Tile>
__device__ __forceinline__ void repair_block(GuardNotes<Tile>& notes, const Target& to,
                                             int first_column, int warp) {
  using Notes = GuardNotes<Tile>;
  constexpr int kRows = 8, kColumns = 4, kRun = 512;
  // Derived from this, all that the blocks have in common takes no registers for all of them.
  const int thread = ptx::thread_again() % (32 * kGroupWarps);
  const int within = thread / 32, lane = thread % 32, first_row = first_row_of(warp);
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
  StepOfLines<Operands::kA, Tile> of_a(to.rows_from<Operands>(first_row), to.rows() - first_row,
                                       thread);
  StepOfLines<Operands::kB, Tile> of_b(to.columns_from<Operands>(first_column),
                                       to.columns() - first_column, thread);
  float total[kRows * kColumns] = {}, sum[kRows][kColumns] = {};
  of_a.load(k), of_b.load(k);
#pragma unroll 1
  for (int64_t depth = 0; depth < k; depth += Notes::kDepth) {
    any_in_group(false, warp);  // all have read the step before
    of_a.store(notes.a), of_b.store(notes.b);
    any_in_group(false, warp);
    const int64_t left = k - depth - Notes::kDepth;
    of_a.load(left), of_b.load(left);
#pragma unroll 2  // more take registers that 128 x 128 tiles of 3xTF32 do not have
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
    for (int e = 0; e < kRows * kColumns; ++e) {
      float& run = sum[e / kColumns][e % kColumns];
      total[e] += run;
      run = 0.0f;
      may_change = may_change || ((wanted >> e & 1) != 0 && !isnan(total[e]));
    }
    if (!any_in_group(may_change, warp)) break;
  }
#pragma unroll 1
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if ((wanted >> j & 1) == 0) continue;
      to.store<kFused>(first_row + row_of(i), first_column + column + j, total[j]);
    }
    wanted >>= kColumns;
    rotate<kColumns>(total);
  }
}

// Computes the marked results of a warpgroup again; its warps call it together.
template <bool kFused, class Operands, class Tile>
__device__ __forceinline__ void repair(GuardNotes<Tile>& notes, const Target& to, int warp,
                                       int lane) {
  using Notes = GuardNotes<Tile>;
  const int rows = notes.count_lines(0, Notes::kRowWords);
  const int columns = notes.count_lines(Notes::kRowWords, Notes::kWords);
  if (min(rows, columns) > Notes::kFewLines) {
#pragma unroll 1
    for (int column = 0; column < Tile::kBlockN; column += kGroupRows) {
      repair_block<kFused, Operands>(notes, to, column, warp);
    }
    return;
  }
  const bool of_rows = rows <= columns;
  const int begin = of_rows ? 0 : Notes::kRowWords;
  const int end = of_rows ? Notes::kRowWords : Notes::kWords;
  const auto of_a = to.rows_from<Operands>(first_row_of(warp));
  const auto of_b = to.columns_from<Operands>(0);
#pragma unroll 1
  for (int word = begin; word < end; ++word) {
#pragma unroll 1
    for (unsigned lines = notes.lines[word]; lines != 0; lines &= lines - 1) {
      const int line = 32 * (word - begin) + __ffs(lines) - 1;
      if (of_rows) {
        repair_line<kFused, true>(notes, to, line, of_a.from(line), of_b, warp, lane);
      } else {
        repair_line<kFused, false>(notes, to, line, of_b.from(line), of_a, warp, lane);
      }
    }
  }
}

}  // namespace mygemm::tensor
