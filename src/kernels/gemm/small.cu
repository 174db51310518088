// The instances of the small kernels.
#include "kernels/gemm/small.cuh"

namespace mygemm::cuda {

template Status launch_gemm_small<Small16x16>(const GemmProblem&, const GemmConfig&,
                                              const LaunchContext&);
template Status launch_gemm_small<Small32x32>(const GemmProblem&, const GemmConfig&,
                                              const LaunchContext&);
template Status launch_gemm_small<Small64x32>(const GemmProblem&, const GemmConfig&,
                                              const LaunchContext&);

}  // namespace mygemm::cuda
