// Facts of a transpose on a device, worked out once for the configurations of all its kernels.
// Pure.
#pragma once

#include <bit>

#include "device_traits.h"
#include "kernels/transpose/tiles.h"

namespace mygemm {

// The sides whose rows do not all begin at a sector of memory.
enum RowCut { kCutNone = 0, kCutInput = 1, kCutOutput = 2, kCutBoth = 3, kRowCuts = 4 };

constexpr int row_cut(const RowAlignment& alignment) {
  return (alignment.in < kSectorBytes ? kCutInput : kCutNone) +
         (alignment.out < kSectorBytes ? kCutOutput : kCutNone);
}

inline double bytes_moved(const TransposeProblem& p) {
  return 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.cols) *
         static_cast<double>(p.batch_count) * static_cast<double>(p.element_size);
}

struct TransposeFacts {
  TransposeFacts(const TransposeProblem& p, const DeviceTraits& device)
      : problem(p),
        alignment(row_alignment(p)),
        bytes_moved(mygemm::bytes_moved(p)),
        copy_seconds(bytes_moved / device.memory_bandwidth),
        log2_size(std::bit_width(static_cast<uint64_t>(p.element_size)) - 1),
        cut(row_cut(alignment)) {}

  const TransposeProblem& problem;
  RowAlignment alignment;
  double bytes_moved;
  double copy_seconds;  // of a copy of the same bytes
  int log2_size;        // of an element
  int cut;              // RowCut
};

}  // namespace mygemm
