// The TMA-fed product with 32 x 32 block tiles, whole and cut along k.
#include "kernels/gemm/tma.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tma_32x32(const GemmRow&, const GemmProblem& p,
                                   const LaunchContext& context) {
  return launch_fed<Fed32x32>(p, false, context);
}

Status cuda::launch_gemm_streamk_32x32(const GemmRow&, const GemmProblem& p,
                                       const LaunchContext& context) {
  return launch_fed<Fed32x32>(p, true, context);
}

}  // namespace mygemm
