// The instances of the kernels of 16-bit operands on tensor cores.
#include "kernels/gemm/tensor16/tensor16.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor16<Tensor16_256x256>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_192x256>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_160x256>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_128x256>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_192x128>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_160x128>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_256x128>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_128x128>(const GemmProblem&, const GemmConfig&,
                                                       const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_64x128>(const GemmProblem&, const GemmConfig&,
                                                      const LaunchContext&);

template Status launch_gemm_tensor16<Tensor16Lines_128x128>(const GemmProblem&, const GemmConfig&,
                                                            const LaunchContext&);

}  // namespace mygemm::cuda
