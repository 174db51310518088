// The instances of the warp-tiled kernels of larger tiles.
#include "kernels/gemm/warptiled.cuh"

namespace mygemm::cuda {

template Status launch_gemm_warptiled<Tile128x128>(const GemmProblem&, const GemmConfig&,
                                                   const LaunchContext&);
template Status launch_gemm_warptiled<Tile128x64>(const GemmProblem&, const GemmConfig&,
                                                  const LaunchContext&);
template Status launch_gemm_warptiled<Tile64x64>(const GemmProblem&, const GemmConfig&,
                                                 const LaunchContext&);

}  // namespace mygemm::cuda
