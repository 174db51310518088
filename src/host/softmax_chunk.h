// The vectorised part of softmax on the host: the contribution of one chunk of a row to the row's
// sum, and the results of one chunk. Host backend; independent of threads.
#pragma once

#include <cmath>
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

// s that round to an infinity in FP32 begin here.
inline constexpr double kOverflow = 0x1.ffffffp127;

// s = size * x, for x times `sign` as they are loaded: -1, 1, or 0 for a scale of 0, which makes a
// NaN of an infinity. Products and their differences are in FP64: in FP32 they would be off by half
// a unit of s, which is 32 units of the exponential where s is 64.
struct Scale {
  float sign;
  double size;

  explicit Scale(const SoftmaxProblem& p)
      : sign(p.scale > 0.0f   ? 1.0f
             : p.scale < 0.0f ? -1.0f
                              : 0.0f),
        size(p.scale == 0.0f ? 1.0 : std::fabs(double{p.scale})) {}
};

// The sum of a row or of a part of one.
//   forward:   the largest x (see Scale), and the sum of exp(s - its s)
//   backward:  0, and the sum of dy * y (log mode: of dy)
struct RowSum {
  float maximum;
  double sum;

  // Appends the next part of the row.
  void add(const Scale& scale, const RowSum& next);
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
