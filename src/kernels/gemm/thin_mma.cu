// The instances of the thin kernels on tensor cores.
#include "kernels/gemm/thin_mma.cuh"

namespace mygemm::cuda {

template Status launch_gemm_thin_mma<ThinMma8>(const GemmProblem&, const GemmConfig&,
                                               const LaunchContext&);
template Status launch_gemm_thin_mma<ThinMma16>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);

}  // namespace mygemm::cuda
