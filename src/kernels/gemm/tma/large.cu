// The instances of the TMA-fed kernels with large tiles.
#include "kernels/gemm/tma/tma.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tma<Tma256x128>(const GemmProblem&, const GemmConfig&,
                                            const LaunchContext&);
template Status launch_gemm_tma<Tma128x128>(const GemmProblem&, const GemmConfig&,
                                            const LaunchContext&);
template Status launch_gemm_tma<Tma128x64>(const GemmProblem&, const GemmConfig&,
                                           const LaunchContext&);

}  // namespace mygemm::cuda
