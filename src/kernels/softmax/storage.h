// How much of a matrix row a softmax kernel keeps in shared memory: the plan and the launcher must
// agree on it. Pure.
#pragma once

#include <limits>

#include "problem.h"

namespace mygemm {

// Partial results that a block's warps exchange while they reduce.
struct SoftmaxStorage {
  float partial[64];            // (2, 32): one (maximum, sum) or one sum per warp
};

// FP32 copies of one row: x forward; y and dy backward. Bytes.
constexpr int64_t softmax_row_bytes(const SoftmaxProblem& p) {
  const int64_t per_column = p.backward ? 8 : 4;
  return p.cols > std::numeric_limits<int64_t>::max() / 8 ? std::numeric_limits<int64_t>::max() / 2
                                                          : p.cols * per_column;
}

}  // namespace mygemm
