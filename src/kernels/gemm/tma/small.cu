// The instances of the TMA-fed kernels with small tiles.
#include "kernels/gemm/tma/tma.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tma<Tma64x32>(const GemmProblem&, const GemmConfig&,
                                          const LaunchContext&);
template Status launch_gemm_tma<Tma32x32>(const GemmProblem&, const GemmConfig&,
                                          const LaunchContext&);

}  // namespace mygemm::cuda
