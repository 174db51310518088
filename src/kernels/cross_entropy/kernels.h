// The cross-entropy kernels for GPUs: a configure function and a launcher each. kernels/kernel.h
// says what they do. x.cpp defines configure_cross_entropy_x(), x.cu its launcher.
#pragma once

#include "kernels/cross_entropy/config.h"

namespace mygemm {

// The shared memory of a cluster of blocks holds a row while the next one comes.
const char* configure_cross_entropy_cluster(const CrossEntropyKernel&, const CrossEntropyFacts&,
                                            const DeviceTraits&, const PlanOptions&,
                                            CrossEntropyConfig*);
// A block holds a row in registers, one tile in each warp.
const char* configure_cross_entropy_block(const CrossEntropyKernel&, const CrossEntropyFacts&,
                                          const DeviceTraits&, const PlanOptions&,
                                          CrossEntropyConfig*);
// A few lanes of a warp hold a row in registers.
const char* configure_cross_entropy_narrow(const CrossEntropyKernel&, const CrossEntropyFacts&,
                                           const DeviceTraits&, const PlanOptions&,
                                           CrossEntropyConfig*);
// A block reads a row twice.
const char* configure_cross_entropy_reread(const CrossEntropyKernel&, const CrossEntropyFacts&,
                                           const DeviceTraits&, const PlanOptions&,
                                           CrossEntropyConfig*);
// A warp reads a row three times. Runs any problem.
const char* configure_cross_entropy_naive(const CrossEntropyKernel&, const CrossEntropyFacts&,
                                          const DeviceTraits&, const PlanOptions&,
                                          CrossEntropyConfig*);

namespace cuda {
Status launch_cross_entropy_cluster(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                    const LaunchContext&);
Status launch_cross_entropy_block(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                  const LaunchContext&);
Status launch_cross_entropy_narrow(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                   const LaunchContext&);
Status launch_cross_entropy_reread(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                   const LaunchContext&);
Status launch_cross_entropy_naive(const CrossEntropyProblem&, const CrossEntropyConfig&,
                                  const LaunchContext&);
}  // namespace cuda

}  // namespace mygemm
