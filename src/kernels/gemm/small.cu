// The instances of the small kernels.
#include "kernels/gemm/small.cuh"

namespace mygemm::cuda {

template Status launch_gemm_small<Tile16x16>(const GemmProblem&, const GemmConfig&,
                                             const LaunchContext&);
template Status launch_gemm_small<Tile32x32>(const GemmProblem&, const GemmConfig&,
                                             const LaunchContext&);
template Status launch_gemm_small<Tile64x32>(const GemmProblem&, const GemmConfig&,
                                             const LaunchContext&);

}  // namespace mygemm::cuda
