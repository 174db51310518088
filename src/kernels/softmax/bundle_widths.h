// The launchers of bundle kernels that are compiled apart.
#pragma once

#include "kernels/softmax/config.h"

namespace mygemm::cuda {

Status launch_softmax_bundle_fp32(const SoftmaxProblem&, const SoftmaxConfig&,
                                  const LaunchContext&);
Status launch_softmax_bundle_mixed(const SoftmaxProblem&, const SoftmaxConfig&,
                                   const LaunchContext&);

}  // namespace mygemm::cuda
