// The instances of the thin kernels for operands of 16 bits.
#include "kernels/gemm/thin.cuh"

namespace mygemm::cuda {

template Status launch_gemm_thin<Thin1Of16Bit>(const GemmProblem&, const GemmConfig&,
                                               const LaunchContext&);
template Status launch_gemm_thin<Thin4Of16Bit>(const GemmProblem&, const GemmConfig&,
                                               const LaunchContext&);
template Status launch_gemm_thin<Thin16Of16Bit>(const GemmProblem&, const GemmConfig&,
                                                const LaunchContext&);

}  // namespace mygemm::cuda
