// The softmax bundle kernel for FP32 elements.
#include "kernels/softmax/bundle.cuh"
#include "kernels/softmax/bundle_widths.h"

namespace mygemm {

Status cuda::launch_softmax_bundle_fp32(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                        const LaunchContext& context) {
  return launch_bundle<Fp32Elements>(p, config, context);
}

}  // namespace mygemm
