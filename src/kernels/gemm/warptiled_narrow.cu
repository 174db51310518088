// The instances of the warp-tiled kernels of tiles for narrow matrices.
#include "kernels/gemm/warptiled.cuh"

namespace mygemm::cuda {

template Status launch_gemm_warptiled<Tile64x32>(const GemmProblem&, const GemmConfig&,
                                                 const LaunchContext&);
template Status launch_gemm_warptiled<Tile32x64>(const GemmProblem&, const GemmConfig&,
                                                 const LaunchContext&);
template Status launch_gemm_warptiled<Tile32x32>(const GemmProblem&, const GemmConfig&,
                                                 const LaunchContext&);

}  // namespace mygemm::cuda
