// The instances of the kernels of an FP32 and a BF16 operand on tensor cores.
#include "kernels/gemm/tensor16/tensor16.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor16<Mixed_128x128, false>(const GemmProblem&, const GemmConfig&,
                                                           const LaunchContext&);
template Status launch_gemm_tensor16<Mixed_128x128, true>(const GemmProblem&, const GemmConfig&,
                                                          const LaunchContext&);
template Status launch_gemm_tensor16<Mixed_64x128, false>(const GemmProblem&, const GemmConfig&,
                                                          const LaunchContext&);
template Status launch_gemm_tensor16<Mixed_64x128, true>(const GemmProblem&, const GemmConfig&,
                                                         const LaunchContext&);
template Status launch_gemm_tensor16<Mixed_32x128, false>(const GemmProblem&, const GemmConfig&,
                                                          const LaunchContext&);
template Status launch_gemm_tensor16<MixedLines_64x128, false>(const GemmProblem&,
                                                               const GemmConfig&,
                                                               const LaunchContext&);
template Status launch_gemm_tensor16<MixedLines_64x128, true>(const GemmProblem&, const GemmConfig&,
                                                              const LaunchContext&);

}  // namespace mygemm::cuda
