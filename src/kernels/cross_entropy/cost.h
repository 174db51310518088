// Parts of the estimated times that several cross-entropy kernels share. Pure.
#pragma once

#include "kernels/cross_entropy/config.h"
#include "kernels/softmax/cost.h"

namespace mygemm {

constexpr const char* kNarrowReason = "rows as narrow as these are the narrow kernel's";

// Kernels in which a block, alone, reads a row twice; once, where there is no gradient.
inline double twice_read_seconds(const CrossEntropyFacts& facts, double efficiency,
                                 const DeviceTraits& device) {
  SoftmaxWork work = facts.work;
  if (!facts.problem.has_gradient()) work.read /= 2;
  return reread_seconds(work, efficiency, device);
}

}  // namespace mygemm
