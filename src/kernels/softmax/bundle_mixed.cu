// The softmax bundle kernel for elements of different widths.
#include "kernels/softmax/bundle.cuh"
#include "kernels/softmax/bundle_widths.h"

namespace mygemm {

Status cuda::launch_softmax_bundle_mixed(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                         const LaunchContext& context) {
  return launch_bundle<MixedElements>(p, config, context);
}

}  // namespace mygemm
