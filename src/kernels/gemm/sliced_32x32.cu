// The product in tiles of 32 x 32, k sliced among warps and blocks.
#include "kernels/gemm/sliced.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_sliced_32x32(const GemmRow& row, const GemmProblem& p,
                                      const LaunchContext& context) {
  return launch_sliced<Sliced32x32>(row, p, context);
}

}  // namespace mygemm
