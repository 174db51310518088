// The instances with wide tiles of the kernels on tensor cores with three TF32 products; files
// apart compile at once.
#include "kernels/gemm/tensor/tensor.cuh"
#include "kernels/gemm/tf32x3/method.cuh"
#include "kernels/gemm/tf32x3/tf32x3.h"

namespace mygemm::cuda {

template Status launch_gemm_tensor<Tensor128x192>(const GemmProblem&, const GemmConfig&,
                                                  const LaunchContext&);

}  // namespace mygemm::cuda
