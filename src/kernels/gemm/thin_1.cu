// Products whose thin side has one row or column: products of a matrix and a vector.
#include "kernels/gemm/thin_launch.cuh"

namespace mygemm {

Status cuda::launch_gemm_thin_1(const GemmRow& row, const GemmProblem& p,
                                const LaunchContext& context) {
  return launch_thin<Thin1>(row, p, context);
}

}  // namespace mygemm
