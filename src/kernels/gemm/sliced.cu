// The instances of the sliced-K kernels.
#include "kernels/gemm/sliced.cuh"

namespace mygemm::cuda {

template Status launch_gemm_sliced<Sliced32x16>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);
template Status launch_gemm_sliced<Sliced32x32>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);
template Status launch_gemm_sliced<Sliced64x64>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);

}  // namespace mygemm::cuda
