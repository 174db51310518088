// Sums of the rows of D or op(A), or of the columns of op(B): the product of that matrix and a
// vector of ones, whose elements are all the same one. The kernels for thin products then have
// the sums at the speed of memory, however few lines are long, in a fixed order. Declarations for
// either backend.
#pragma once

#include "kernels/kernel.h"

namespace mygemm {

// The matrix whose rows are added up, as the operand A of a product of m x k elements.
struct SummedMatrix {
  Operand matrix;
  bool trans;
  int64_t m, k;
};

inline SummedMatrix summed_matrix(const GemmProblem& p) {
  switch (p.sums.of) {
    case MYGEMM_SUMS_OF_A: return {p.a, p.transa, p.m, p.k};
    case MYGEMM_SUMS_OF_B: return {p.b, !p.transb, p.n, p.k};
    default: return {p.d, false, p.m, p.n};
  }
}

// ones: an element of 1 of the matrix's type in device memory, and more behind it, 16 bytes in all.
inline GemmProblem sums_as_product(const GemmProblem& p, const void* ones) {
  const SummedMatrix x = summed_matrix(p);
  const Operand sums{p.sums.data, nullptr, x.m, p.sums.stride};
  GemmProblem q{};
  q.invariant = p.invariant;
  q.transa = x.trans, q.transb = true;
  q.m = x.m, q.n = 1, q.k = x.k;
  q.a = x.matrix;
  q.b = {const_cast<void*>(ones), nullptr, 0, 0, x.matrix.type};
  q.c = q.d = sums;
  q.epilogue.alpha = {1.0f, nullptr, false};
  q.epilogue.beta = {0.0f, nullptr, false};
  q.batch_count = p.batch_count;
  q.math = MYGEMM_MATH_STRICT;
  return q;
}

namespace cuda {
// The address of 16 bytes of ones of a type on the current device.
Status find_ones(mygemmDataType_t type, const void** address);
}  // namespace cuda

namespace host {
Status launch_sums(const GemmProblem& p);
}  // namespace host

}  // namespace mygemm
