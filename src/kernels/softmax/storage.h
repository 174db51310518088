// How much of a matrix row a softmax kernel keeps in shared memory: the plan and the launcher must
// agree on it. Pure.
#pragma once

#include <algorithm>
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

// Threads of a block that keeps a row in shared memory: the most that leave as many threads on a
// multiprocessor as it can hold, given how many rows fit its shared memory, and no more than one
// per pack of four columns. Depends on the columns only, so that a row's bits do not depend on how
// many rows the call has.
constexpr int softmax_block_threads(const SoftmaxProblem& p, int64_t shared_bytes,
                                    const DeviceTraits& device) {
  constexpr int kFewest = 128, kMost = 1024, kThreadsPerSm = 2048;
  constexpr int kReserved = 1024;         // bytes of shared memory that a block takes besides
  const int64_t resident =
      std::clamp<int64_t>(device.shared_per_sm / (shared_bytes + kReserved), 1, 16);
  int threads = kFewest;
  while (threads < kMost && 2 * threads * resident <= kThreadsPerSm &&
         int64_t{4} * threads < p.cols) {
    threads *= 2;
  }
  return threads;
}

}  // namespace mygemm
