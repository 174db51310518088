// The cross-entropy kernel of the host: its configure function and launcher. Includes no CUDA
// header.
#pragma once

#include "kernels/cross_entropy/config.h"

namespace mygemm::host {

// Runs any problem, in FP64, on as many threads as num_threads() says when it is launched.
inline const char* configure_cross_entropy(const CrossEntropyKernel& kernel,
                                           const CrossEntropyFacts& facts,
                                           const DeviceTraits& device, const PlanOptions&,
                                           CrossEntropyConfig* config) {
  constexpr double kCallSeconds = 0.3e-6;
  const double bytes = facts.work.read * kernel.figures.reads + facts.work.written;
  config->seconds = kCallSeconds + bytes / (device.memory_bandwidth * kernel.figures.efficiency);
  return nullptr;
}

Status launch_cross_entropy_naive(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                  const LaunchContext&);

}  // namespace mygemm::host
