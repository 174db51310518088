// Products whose thin side has at most 4 rows or columns.
#include "kernels/gemm/thin_launch.cuh"

namespace mygemm {

Status cuda::launch_gemm_thin_4(const GemmRow& row, const GemmProblem& p,
                                const LaunchContext& context) {
  return launch_thin<Thin4>(row, p, context);
}

}  // namespace mygemm
