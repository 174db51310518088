// How the rows of masked softmaxes are distributed over threads. Everything here depends on
// columns, types and alignment only, so that the bits of a row do not depend on the number of rows.
// Pure.
#pragma once

#include <algorithm>

#include "kernels/divisor.h"
#include "kernels/softmax/formats.h"

namespace mygemm {

// Threads of the warp kernel's blocks, each warp of which has a row, and the most of the block
// kernel's; threads of the kernel that reads rows twice.
constexpr int kMaskedWarpThreads = 128, kMaskedFewThreads = 256, kMaskedBlockThreads = 512,
              kMaskedRereadThreads = 512;
// Packs that a thread holds. Many packs are of the warp kernel, of 16 bits without a mask and a
// cap.
constexpr int kMaskedPacks = 4, kMaskedFewPacks = 2, kMaskedManyPacks = 8;
// Single elements that a thread holds; few where a warp can hold a row so. Bundle kernel: those
// that a lane holds at most.
constexpr int kMaskedElements = 16, kMaskedFewElements = 8;
constexpr int kMaskedLaneElements = 32, kMaskedLaneElementsOfMasks = 24;

// SoftmaxMasking::place_of() without divisions, where there are fewer than 2^31 rows.
struct MaskedDivisors {
  Divisor group_rows = Divisor(1), batch_groups = Divisor(1);
  bool narrow = false;
  bool one_group = true, one_batch = true;

  MaskedDivisors() = default;
  explicit MaskedDivisors(const SoftmaxProblem& p) {
    const SoftmaxMasking& m = *p.masking;
    narrow = p.rows <= INT32_MAX;
    if (!narrow) return;
    one_group = m.group_rows == 0 || m.group_rows >= p.rows;
    if (one_group) return;
    group_rows = Divisor(static_cast<unsigned>(m.group_rows));
    one_batch = m.batch_groups == 0 || m.batch_groups >= p.rows;
    if (!one_batch) batch_groups = Divisor(static_cast<unsigned>(m.batch_groups));
  }

  constexpr SoftmaxMasking::Place place_of(int64_t r) const {
    if (one_group) return {0, 0, r};
    const auto number = static_cast<unsigned>(r);
    const unsigned group = group_rows.quotient(number);
    const unsigned row = number - group * group_rows.value();
    const unsigned batch = one_batch ? 0 : batch_groups.quotient(group);
    return {batch, group - batch * batch_groups.value() * !one_batch, row};
  }
};

// Whether the kernels without mask and cap do not take a problem.
constexpr bool has_extras(const SoftmaxMasking& m) { return m.mask || m.softcap != 0.0f; }

// Bundle kernel: the rows that a warp, or a block for rows that a warp does not hold, moves between
// global and shared memory as one run, and where its shared memory has them. x, or y, is at 0.
struct MaskedBundle {
  int rows = 0;
  int dy_at, out_at;
  int mask_at, mask_pitch;  // bytes from one row of the mask to the next
  int bytes;                // of a warp, or of a block
};

// Whether rows, and the mask's, are moved by packs; otherwise by single elements.
struct MaskedRows {
  Widths widths;
  bool in_packs;
  int64_t packs = 0;   // of a row, or elements
  int held = 0;        // packs or elements of a thread; 0: the kernel is another one
  int log2_lanes = 0;  // warp and bundle kernels: lanes that share a row
  MaskedBundle bundle = {};
  bool by_block = false;  // bundle kernel: a block has a row, not lanes of a warp

  bool floats = true;  // elements are held as FP32: not those of 16 bits without mask and cap

  constexpr bool wide() const { return floats && widths == Widths::k16Bit; }
  // Packs of eight floats: four of them and a mask's take more registers than there are.
  constexpr int most_held() const {
    return !in_packs ? kMaskedElements : wide() ? kMaskedFewPacks : kMaskedPacks;
  }
  // The threads that hold a row at `each` packs a thread, in whole warps.
  constexpr int64_t threads_for(int each) const { return ceil_div(packs, 32 * each) * 32; }
};

// Whether packs of the mask's elements are aligned, of any row.
inline bool mask_in_packs(const SoftmaxMasking& m, int pack) {
  if (!m.mask) return true;
  const auto bytes = static_cast<uint64_t>(pack * element_bytes(m.mask_type));
  const auto elements = static_cast<uint64_t>(m.mask_strides.batch) |
                        static_cast<uint64_t>(m.mask_strides.group) |
                        static_cast<uint64_t>(m.mask_strides.row);
  return m.mask_stride_col == 1 && reinterpret_cast<uintptr_t>(m.mask) % bytes == 0 &&
         elements % static_cast<uint64_t>(pack) == 0;
}

inline MaskedRows masked_rows(const SoftmaxProblem& p, const RowShape& shape) {
  const SoftmaxMasking& m = *p.masking;
  const int pack = pack_of(shape.widths);
  bool in_packs = shape.layout == Layout::kPacks;
  if (p.backward && m.softcap != 0.0f) {
    SoftmaxProblem from_x = p;
    from_x.in = m.x;
    in_packs = in_packs && widths_of(from_x) == shape.widths &&
               layout_of(from_x, shape.widths) == Layout::kPacks;
  } else if (!p.backward) {
    in_packs = in_packs && mask_in_packs(m, pack);
  }
  MaskedRows rows{shape.widths, in_packs, in_packs ? p.cols / pack : p.cols};
  rows.floats = !in_packs || shape.widths != Widths::k16Bit || (!p.backward && has_extras(m));
  return rows;
}

// Whether rows that begin anywhere go through shared memory. Gradients of more columns, or of FP32,
// are faster by single elements: 0.46 and 0.77 of a copy for 1001 columns of FP32, 0.41 and 0.26
// for 333 of BF16 (H200).
inline bool takes_masked_bundle(const SoftmaxProblem& p, const MaskedRows& rows) {
  if (rows.in_packs) return false;
  if (!p.backward) return rows.packs <= kMaskedBlockThreads * kMaskedElements;
  return rows.widths == Widths::k16Bit && p.masking->softcap == 0.0f &&
         rows.packs <= 32 * kMaskedElements;
}

}  // namespace mygemm
