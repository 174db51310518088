// The instances of the thin kernels.
#include "kernels/gemm/thin.cuh"

namespace mygemm::cuda {

template Status launch_gemm_thin<Thin1>(const GemmProblem&, const GemmConfig&,
                                        const LaunchContext&);
template Status launch_gemm_thin<Thin4>(const GemmProblem&, const GemmConfig&,
                                        const LaunchContext&);
template Status launch_gemm_thin<Thin8>(const GemmProblem&, const GemmConfig&,
                                        const LaunchContext&);
template Status launch_gemm_thin<Thin16>(const GemmProblem&, const GemmConfig&,
                                         const LaunchContext&);

}  // namespace mygemm::cuda
