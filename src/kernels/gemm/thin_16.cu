// Products whose thin side has at most 16 rows or columns.
#include "kernels/gemm/thin_launch.cuh"

namespace mygemm {

Status cuda::launch_gemm_thin_16(const GemmRow& row, const GemmProblem& p,
                                 const LaunchContext& context) {
  return launch_thin<Thin16>(row, p, context);
}

}  // namespace mygemm
