// The instances of the kernels of 16-bit operands on tensor cores: blocks on their own.
#include "kernels/gemm/tensor16/tensor16.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor16<Tensor16_256x128, false>(const GemmProblem&, const GemmConfig&,
                                                              const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_256x128, true>(const GemmProblem&, const GemmConfig&,
                                                             const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_192x128, false>(const GemmProblem&, const GemmConfig&,
                                                              const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_144x128, false>(const GemmProblem&, const GemmConfig&,
                                                              const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_128x128, false>(const GemmProblem&, const GemmConfig&,
                                                              const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_64x128, false>(const GemmProblem&, const GemmConfig&,
                                                             const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_32x128, false>(const GemmProblem&, const GemmConfig&,
                                                             const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16Lines_128x128, false>(const GemmProblem&,
                                                                   const GemmConfig&,
                                                                   const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16Lines_128x128, true>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);

}  // namespace mygemm::cuda
