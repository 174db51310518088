// The instances of the kernels of 16-bit operands on tensor cores: clusters.
#include "kernels/gemm/tensor16/tensor16.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor16<Tensor16_256x128_2x1, false>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_224x128_2x1, false>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_224x128_2x1, true>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_208x128_2x1, false>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_192x128_4x1, false>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_192x128_4x1, true>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_96x128_4x1, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_96x128_4x1, true>(const GemmProblem&,
                                                                const GemmConfig&,
                                                                const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_48x128_1x4, false>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_160x128_2x2, false>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);
template Status launch_gemm_tensor16<Tensor16_160x128_2x2, true>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);

}  // namespace mygemm::cuda
