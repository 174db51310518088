// How much of a matrix row a softmax kernel keeps in shared memory: the plan and the launcher must
// agree on it. Pure.
#pragma once

#include <algorithm>
#include <limits>

#include "problem.h"

namespace mygemm {

// Partial results that a block's warps exchange while they reduce: 32 for each of two reductions,
// so that the second need not wait until the first has been read.
struct SoftmaxStorage {
  float first[32], second[32];
};

// FP32 copies of one row in packs of four columns: x forward; y, then dy, backward. Bytes.
constexpr int64_t softmax_row_bytes(const SoftmaxProblem& p) {
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max() / 64;
  return 16 * ceil_div(std::min(p.cols, kLongest), 4) * (p.backward ? 2 : 1);
}

// Bytes of a multiprocessor's shared memory that a block takes besides what it asks for.
constexpr int kSharedPerBlock = 1024;

// Threads of a block that keeps a row in shared memory: the most that leave as many threads on a
// multiprocessor as it can hold, given how many rows fit its shared memory, and no more than one
// per pack of four columns. Depends on the columns only, so that a row's bits do not depend on how
// many rows the call has.
constexpr int softmax_block_threads(const SoftmaxProblem& p, int64_t shared_bytes,
                                    const DeviceTraits& device) {
  constexpr int kFewest = 128, kMost = 1024, kThreadsPerSm = 2048;
  const int64_t resident =
      std::clamp<int64_t>(device.shared_per_sm / (shared_bytes + kSharedPerBlock), 1, 16);
  int threads = kFewest;
  while (threads < kMost && 2 * threads * resident <= kThreadsPerSm &&
         int64_t{4} * threads < p.cols) {
    threads *= 2;
  }
  return threads;
}

}  // namespace mygemm
