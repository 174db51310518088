// The instances of the TMA-fed kernels with tiles for a short side of D.
#include "kernels/gemm/tma/tma.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tma<Tma64x128>(const GemmProblem&, const GemmConfig&,
                                           const LaunchContext&);
template Status launch_gemm_tma<Tma128x32>(const GemmProblem&, const GemmConfig&,
                                           const LaunchContext&);
template Status launch_gemm_tma<Tma32x128>(const GemmProblem&, const GemmConfig&,
                                           const LaunchContext&);

}  // namespace mygemm::cuda
