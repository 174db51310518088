// The product on tensor cores with 128 x 64 block tiles, whole. Cut along k they were never
// the fastest (144 shapes on an H200): 128 x 128 tiles are then, or the FP32 kernels.
#include "kernels/gemm/tf32x3.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tf32x3_128x64(const GemmRow&, const GemmProblem& p,
                                       const LaunchContext& context) {
  return launch_tf32x3<Tensor128x64>(p, false, context);
}

}  // namespace mygemm
