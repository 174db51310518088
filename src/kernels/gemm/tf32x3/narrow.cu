// The instances of the tensor-core kernels with narrow tiles.
#include "kernels/gemm/tf32x3/tf32x3.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tf32x3<Tensor128x128>(const GemmProblem&, const GemmConfig&,
                                                  const LaunchContext&);
template Status launch_gemm_tf32x3<Tensor128x64>(const GemmProblem&, const GemmConfig&,
                                                 const LaunchContext&);

}  // namespace mygemm::cuda
