// The instances of the kernels for short sums.
#include "kernels/gemm/tma/short.cuh"

namespace mygemm::cuda {

template Status launch_gemm_short<Short256x128>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);
template Status launch_gemm_short<Short128x128>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);

}  // namespace mygemm::cuda
