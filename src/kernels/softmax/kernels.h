// The softmax kernels for GPUs: a configure function and a launcher each. kernels/kernel.h says
// what they do. x.cpp defines configure_softmax_x(), x.cu its launcher.
#pragma once

#include "kernels/softmax/config.h"

namespace mygemm {

// A warp, or part of one, holds a row in registers.
const char* configure_softmax_warp(const SoftmaxKernel&, const SoftmaxFacts&, const DeviceTraits&,
                                   const PlanOptions&, SoftmaxConfig*);
// A block moves rows that begin anywhere through shared memory; a warp, or part of one, holds a
// row.
const char* configure_softmax_bundle(const SoftmaxKernel&, const SoftmaxFacts&, const DeviceTraits&,
                                     const PlanOptions&, SoftmaxConfig*);
// A block holds a row in registers.
const char* configure_softmax_block(const SoftmaxKernel&, const SoftmaxFacts&, const DeviceTraits&,
                                    const PlanOptions&, SoftmaxConfig*);
// The blocks of a cluster hold a row in registers.
const char* configure_softmax_block_cluster(const SoftmaxKernel&, const SoftmaxFacts&,
                                            const DeviceTraits&, const PlanOptions&,
                                            SoftmaxConfig*);
// The blocks of a cluster hold a wide row in registers.
const char* configure_softmax_wide_cluster(const SoftmaxKernel&, const SoftmaxFacts&,
                                           const DeviceTraits&, const PlanOptions&, SoftmaxConfig*);
// A cluster of blocks holds a wide row in shared memory.
const char* configure_softmax_cluster(const SoftmaxKernel&, const SoftmaxFacts&,
                                      const DeviceTraits&, const PlanOptions&, SoftmaxConfig*);
// Two grids divide wide rows among many blocks; the sums of runs go through the workspace.
const char* configure_softmax_split(const SoftmaxKernel&, const SoftmaxFacts&, const DeviceTraits&,
                                    const PlanOptions&, SoftmaxConfig*);
// A block reads a wide row twice.
const char* configure_softmax_reread(const SoftmaxKernel&, const SoftmaxFacts&, const DeviceTraits&,
                                     const PlanOptions&, SoftmaxConfig*);
// A warp reads a row three times. Runs any problem.
const char* configure_softmax_naive(const SoftmaxKernel&, const SoftmaxFacts&, const DeviceTraits&,
                                    const PlanOptions&, SoftmaxConfig*);

// Masked softmaxes: a warp holds a row in registers; a block does; either moves rows that begin
// anywhere through shared memory; a block reads a row twice; a warp reads it three times, and runs
// any problem.
const char* configure_softmax_masked_warp(const SoftmaxKernel&, const SoftmaxFacts&,
                                          const DeviceTraits&, const PlanOptions&, SoftmaxConfig*);
const char* configure_softmax_masked_block(const SoftmaxKernel&, const SoftmaxFacts&,
                                           const DeviceTraits&, const PlanOptions&, SoftmaxConfig*);
const char* configure_softmax_masked_bundle(const SoftmaxKernel&, const SoftmaxFacts&,
                                            const DeviceTraits&, const PlanOptions&,
                                            SoftmaxConfig*);
const char* configure_softmax_masked_reread(const SoftmaxKernel&, const SoftmaxFacts&,
                                            const DeviceTraits&, const PlanOptions&,
                                            SoftmaxConfig*);
const char* configure_softmax_masked_naive(const SoftmaxKernel&, const SoftmaxFacts&,
                                           const DeviceTraits&, const PlanOptions&, SoftmaxConfig*);

namespace cuda {
Status launch_softmax_warp(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_bundle(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_block(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_block_cluster(const SoftmaxProblem&, const SoftmaxConfig&,
                                    const LaunchContext&);
Status launch_softmax_wide_cluster(const SoftmaxProblem&, const SoftmaxConfig&,
                                   const LaunchContext&);
Status launch_softmax_cluster(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_split(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_reread(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_naive(const SoftmaxProblem&, const SoftmaxConfig&, const LaunchContext&);
Status launch_softmax_masked_warp(const SoftmaxProblem&, const SoftmaxConfig&,
                                  const LaunchContext&);
Status launch_softmax_masked_block(const SoftmaxProblem&, const SoftmaxConfig&,
                                   const LaunchContext&);
Status launch_softmax_masked_bundle(const SoftmaxProblem&, const SoftmaxConfig&,
                                    const LaunchContext&);
Status launch_softmax_masked_reread(const SoftmaxProblem&, const SoftmaxConfig&,
                                    const LaunchContext&);
Status launch_softmax_masked_naive(const SoftmaxProblem&, const SoftmaxConfig&,
                                   const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
