// The vectorised part of softmax on the host: the contribution of one chunk of a row to the row's
// sum, and the results of one chunk. Host backend; independent of threads.
#pragma once

#include <cstdint>

#include "problem.h"

namespace mygemm::host {

// Columns of a chunk. It does not depend on the number of threads, so that the bits of the result
// do not either. A chunk in FP32 takes half of an L1 cache of 32 KiB.
inline constexpr int64_t kChunk = 4096;

// Columns [col, col + count) of one row; count <= kChunk.
struct Chunk {
  int64_t row, col, count;
  bool stream;  // the result is stored past the caches (stream.h); the caller orders the stores
};

// The sum of a row or of a part of one.
//   forward:   the largest s, and the sum of exp(s - maximum)
//   backward:  0, and the sum of dy * y (log mode: of dy)
struct RowSum {
  float maximum;
  double sum;

  // Appends the next part of the row.
  void add(const RowSum& next);
};

// FP32 copies of a chunk's operands. The second one, of dy, is also the buffer of results that are
// streamed.
struct alignas(64) ChunkScratch {
  float first[kChunk];
  float second[kChunk];
};

struct ChunkKernels {
  RowSum (*reduce)(const SoftmaxProblem& problem, const Chunk& chunk, ChunkScratch& scratch);

  // reduced: the last call with `scratch` was reduce() for this very chunk, and it is the whole
  // row, so its exponentials need not be computed again.
  void (*write)(const SoftmaxProblem& problem, const Chunk& chunk, const RowSum& row, bool reduced,
                ChunkScratch& scratch);
};

// The fastest variant for this processor.
const ChunkKernels& chunk_kernels();

}  // namespace mygemm::host
