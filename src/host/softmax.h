// The softmax kernels of the host: their configure function and launchers. Includes no CUDA header.
#pragma once

#include "kernels/softmax/cost.h"

namespace mygemm::host {

// All run any problem, masked or not, on as many threads as num_threads() says when they are
// launched.
inline const char* configure_softmax(const SoftmaxKernel& kernel, const SoftmaxFacts& facts,
                                     const DeviceTraits& device, const PlanOptions&,
                                     SoftmaxConfig* config) {
  constexpr double kCallSeconds = 0.3e-6;
  const SoftmaxWork& work = facts.work;
  const double bytes = work.read * kernel.figures.reads + work.written;
  config->seconds = kCallSeconds + bytes / (device.memory_bandwidth * kernel.figures.efficiency);
  return nullptr;
}

Status launch_softmax_vectorised(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_naive(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_masked(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);

}  // namespace mygemm::host
