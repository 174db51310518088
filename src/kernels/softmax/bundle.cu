// The softmax bundle kernel for 16-bit elements, and the choice between the widths of elements.
#include "kernels/softmax/bundle.cuh"
#include "kernels/softmax/bundle_widths.h"

namespace mygemm {

Status cuda::launch_softmax_bundle(const SoftmaxProblem& p, const SoftmaxConfig& config,
                                   const LaunchContext& context) {
  switch (config.shape.widths) {
    case Widths::k16Bit: break;
    case Widths::kFp32: return launch_softmax_bundle_fp32(p, config, context);
    case Widths::kMixed: return launch_softmax_bundle_mixed(p, config, context);
  }
  return launch_bundle<Elements16>(p, config, context);
}

}  // namespace mygemm
