// The instances of the kernels on tensor cores with six BF16 products.
#include "kernels/gemm/bf16x6/bf16x6.h"
#include "kernels/gemm/bf16x6/method.cuh"
#include "kernels/gemm/tensor/tensor.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor<Bf16x6_128x128>(const GemmProblem&, const GemmConfig&,
                                                   const LaunchContext&);
template Status launch_gemm_tensor<Bf16x6_128x64>(const GemmProblem&, const GemmConfig&,
                                                  const LaunchContext&);

}  // namespace mygemm::cuda
