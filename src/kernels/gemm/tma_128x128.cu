// The TMA-fed product with 128 x 128 block tiles, whole and cut along k.
#include "kernels/gemm/tma.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tma_128x128(const GemmRow&, const GemmProblem& p,
                                     const LaunchContext& context) {
  return launch_fed<Fed128x128>(p, false, context);
}

Status cuda::launch_gemm_streamk_128x128(const GemmRow&, const GemmProblem& p,
                                         const LaunchContext& context) {
  return launch_fed<Fed128x128>(p, true, context);
}

}  // namespace mygemm
