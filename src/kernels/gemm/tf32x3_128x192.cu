// The product on tensor cores with 128 x 192 block tiles, whole and cut along k.
#include "kernels/gemm/tf32x3.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tf32x3_128x192(const GemmRow&, const GemmProblem& p,
                                        const LaunchContext& context) {
  return launch_tf32x3<Tensor128x192>(p, false, context);
}

Status cuda::launch_gemm_tf32x3_streamk_128x192(const GemmRow&, const GemmProblem& p,
                                                const LaunchContext& context) {
  return launch_tf32x3<Tensor128x192>(p, true, context);
}

}  // namespace mygemm
