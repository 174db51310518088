// What the columns of a product's operands allow. Pure.
#pragma once

#include "problem.h"

namespace mygemm {

// Every matrix of the operand begins at a multiple of 16 bytes, and so do its columns. What pointer
// arrays hold is not known.
inline bool columns_aligned(const GemmOperand<const float>& x, int64_t batch_count) {
  return !x.pointers && common_alignment(reinterpret_cast<uintptr_t>(x.data), x.ld * 4) == 16 &&
         (batch_count == 1 || x.stride % 4 == 0);
}

// An operand that is contiguous along m (n) has columns that are not aligned.
inline bool has_shifted_operand(const GemmProblem& p) {
  return (!p.transa && !columns_aligned(p.a, p.batch_count)) ||
         (p.transb && !columns_aligned(p.b, p.batch_count));
}

// Columns are told apart by their number modulo this many: see operand_maps.cuh.
constexpr int kColumnClasses = 4;

// Whether tensor maps can describe an operand of rows x cols as stored: any leading dimension, but
// matrices of a batch all begin at the same place modulo 16 bytes.
constexpr bool has_operand_maps(const GemmOperand<const float>& x, int64_t rows, int64_t cols,
                                int64_t batch_count) {
  constexpr int64_t kMostExtent = (int64_t{1} << 31) - 1024, kMostPitch = int64_t{1} << 36;
  return !x.pointers && rows <= kMostExtent && cols >= kColumnClasses && cols <= kMostExtent &&
         x.ld < kMostPitch && batch_count <= kMostExtent &&
         (batch_count == 1 || (x.stride >= 0 && x.stride % 4 == 0 && x.stride < 4 * kMostPitch));
}

}  // namespace mygemm
