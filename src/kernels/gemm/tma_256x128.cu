// The TMA-fed product with 256 x 128 block tiles, whole and cut along k.
#include "kernels/gemm/tma.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tma_256x128(const GemmRow&, const GemmProblem& p,
                                     const LaunchContext& context) {
  return launch_fed<Fed256x128>(p, false, context);
}

Status cuda::launch_gemm_streamk_256x128(const GemmRow&, const GemmProblem& p,
                                         const LaunchContext& context) {
  return launch_fed<Fed256x128>(p, true, context);
}

}  // namespace mygemm
