// What the columns of a product's operands allow. Pure.
#pragma once

#include "problem.h"

namespace mygemm {

// Every matrix of the operand begins at a multiple of 16 bytes, and so do its columns. What pointer
// arrays hold is not known.
inline bool columns_aligned(const GemmOperand<const float>& x, int64_t batch_count) {
  return !x.pointers && reinterpret_cast<uintptr_t>(x.data) % 16 == 0 && x.ld % 4 == 0 &&
         (batch_count == 1 || x.stride % 4 == 0);
}

// Whether a tensor map can describe the operand: see TensorMapShape for the rules.
inline bool has_tensor_map(const GemmOperand<const float>& x, int64_t batch_count) {
  constexpr int64_t kMostPitch = int64_t{1} << 36;
  return columns_aligned(x, batch_count) && x.ld < kMostPitch &&
         (batch_count == 1 || (x.stride >= 0 && x.stride < 4 * kMostPitch));
}

// The same product seen from its transposed side: C^T = op(B)^T op(A)^T. What is stored in C is then
// the transposed of the result; all strides are as before.
inline GemmProblem transposed(const GemmProblem& p) {
  GemmProblem q = p;
  q.transa = !p.transb, q.transb = !p.transa;
  q.m = p.n, q.n = p.m;
  q.a = p.b, q.b = p.a;
  return q;
}

// An operand that is contiguous along m (n) has no tensor map.
inline bool has_shifted_operand(const GemmProblem& p) {
  return (!p.transa && !has_tensor_map(p.a, p.batch_count)) ||
         (p.transb && !has_tensor_map(p.b, p.batch_count));
}

}  // namespace mygemm
