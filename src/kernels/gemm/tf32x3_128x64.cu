// The product on tensor cores with 128 x 64 block tiles, whole and cut along k.
#include "kernels/gemm/tf32x3.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tf32x3_128x64(const GemmRow&, const GemmProblem& p,
                                       const LaunchContext& context) {
  return launch_tf32x3<Tensor128x64>(p, false, context);
}

Status cuda::launch_gemm_tf32x3_streamk_128x64(const GemmRow&, const GemmProblem& p,
                                               const LaunchContext& context) {
  return launch_tf32x3<Tensor128x64>(p, true, context);
}

}  // namespace mygemm
