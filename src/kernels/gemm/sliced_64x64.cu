// The product in tiles of 64 x 64, k sliced among warps and blocks.
#include "kernels/gemm/sliced.cuh"
#include "kernels/rows.h"

namespace mygemm {

Status cuda::launch_gemm_sliced_64x64(const GemmRow& row, const GemmProblem& p,
                                      const LaunchContext& context) {
  return launch_sliced<Sliced64x64>(row, p, context);
}

}  // namespace mygemm
