// The inner product of host_blocked: an mr x nr tile of D held in registers, fed from packed
// panels, and the packing. Host backend; knows nothing of problems, blocks or threads.
//
// Packed panels are FP32, whatever the operands are: op(A) in groups of mr rows, op(B) in groups of
// nr columns. A group of width w and depth d is d x w floats, w contiguous, filled up with zeros
// where the matrix ends.
#pragma once

#include <cstdint>

#include "problem.h"

namespace mygemm::host {

// Where a group of rows of op(A), or of columns of op(B), lies in memory: element (i, l), i across
// and l along k, is data[i * across + l * along]. One of the two strides is 1.
struct Strip {
  const void* data;
  mygemmDataType_t type;
  int64_t across, along;

  // From element (i, l) on.
  Strip from(int64_t i, int64_t l) const {
    const int64_t bytes = (i * across + l * along) * element_bytes(type);
    return {static_cast<const char*>(data) + bytes, type, across, along};
  }
};

struct MicroKernel {
  int mr, nr;

  // Packs width x depth elements into consecutive groups of mr (A) or nr (B).
  void (*pack_a)(const Strip& strip, int64_t width, int64_t depth, float* packed);
  void (*pack_b)(const Strip& strip, int64_t width, int64_t depth, float* packed);

  // D = alpha * (group of A) * (group of B) + beta * C for one whole tile, column-major; C may be
  // D. Does not read C where beta is 0.
  void (*run)(int64_t depth, const float* a, const float* b, float alpha, float beta,
              const float* c, int64_t ldc, float* d, int64_t ldd);
};

inline constexpr int kMaxTileElements = 32 * 12;  // mr * nr of the largest

// The fastest micro-kernel for this processor.
const MicroKernel& micro_kernel();

}  // namespace mygemm::host
