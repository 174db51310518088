// The TMA-fed product with 128 x 64 block tiles, whole and cut along k.
#include "kernels/gemm/tma.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_tma_128x64(const GemmRow&, const GemmProblem& p,
                                    const LaunchContext& context) {
  return launch_fed<Fed128x64>(p, false, context);
}

Status cuda::launch_gemm_streamk_128x64(const GemmRow&, const GemmProblem& p,
                                        const LaunchContext& context) {
  return launch_fed<Fed128x64>(p, true, context);
}

}  // namespace mygemm
