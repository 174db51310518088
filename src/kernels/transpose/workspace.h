// A transpose in place through the workspace, after the input has been copied there. Pure.
#pragma once

#include "problem.h"

namespace mygemm {

// Elements from a matrix to the next one in a dense batch. Unsigned product: of sizes that no
// matrix has, it is not used and may be anything.
constexpr int64_t dense_stride(const TransposeProblem& p) {
  return static_cast<int64_t>(static_cast<uint64_t>(p.rows) * static_cast<uint64_t>(p.cols));
}

// The transpose from the dense copy in the workspace, out of place.
constexpr TransposeProblem from_workspace(const TransposeProblem& p, const void* workspace) {
  TransposeProblem from = p;
  from.in = workspace;
  from.ldin = p.cols;
  from.stride_in = dense_stride(p);
  return from;
}

}  // namespace mygemm
