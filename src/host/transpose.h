// The transpose kernels of the host: configure functions and launchers. They run on as many threads
// as num_threads() says when they are launched. Includes no CUDA header.
#pragma once

#include "kernels/transpose/cost.h"

namespace mygemm::host {

inline double transpose_seconds(const TransposeKernel& kernel, const TransposeFacts& facts,
                                const DeviceTraits& device) {
  constexpr double kCallSeconds = 0.3e-6;
  return kCallSeconds + facts.bytes_moved / (device.memory_bandwidth * kernel.figures.efficiency);
}

// By tiles; square matrices in place too.
inline const char* configure_transpose_blocked(const TransposeKernel& kernel,
                                               const TransposeFacts& facts,
                                               const DeviceTraits& device, const PlanOptions&,
                                               TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (p.in_place() && !is_square(p)) return kNotInPlaceReason;
  config->seconds = transpose_seconds(kernel, facts, device);
  return nullptr;
}

// Matrices in place, one after another, each through the workspace.
inline const char* configure_transpose_through_workspace(const TransposeKernel& kernel,
                                                         const TransposeFacts& facts,
                                                         const DeviceTraits& device,
                                                         const PlanOptions& options,
                                                         TransposeConfig* config) {
  const TransposeProblem& p = facts.problem;
  if (!p.in_place()) return kOnlyInPlaceReason;
  config->workspace_bytes = dense_bytes(p, std::min<int64_t>(p.batch_count, 1));
  if (options.workspace_bytes == 0 || config->workspace_bytes > options.workspace_bytes) {
    return kWorkspaceReason;
  }
  config->seconds = transpose_seconds(kernel, facts, device);
  return nullptr;
}

// Runs any problem.
inline const char* configure_transpose_naive(const TransposeKernel& kernel,
                                             const TransposeFacts& facts,
                                             const DeviceTraits& device, const PlanOptions&,
                                             TransposeConfig* config) {
  config->seconds = transpose_seconds(kernel, facts, device);
  return nullptr;
}

Status launch_transpose_blocked(const TransposeProblem&, const TransposeConfig&,
                                const LaunchContext&);
Status launch_transpose_through_workspace(const TransposeProblem&, const TransposeConfig&,
                                          const LaunchContext&);
Status launch_transpose_naive(const TransposeProblem&, const TransposeConfig&,
                              const LaunchContext&);

}  // namespace mygemm::host
