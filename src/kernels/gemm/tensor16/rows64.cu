// The instances of the kernels of 16-bit operands on tensor cores: tiles of 64 rows.
#include "kernels/gemm/tensor16/tensor16.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor16<Tensor16_256x64_2x1, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_176x64_2x1, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_160x64_4x1, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_144x64_1x2, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_112x64_2x1, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_64x64_4x1, false>(const GemmProblem&,
                                                                const GemmConfig&,
                                                                const LaunchContext&);

}  // namespace mygemm::cuda
