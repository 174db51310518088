// The instances of the tensor-core kernels with wide tiles; files apart compile at once.
#include "kernels/gemm/tf32x3/tf32x3.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tf32x3<Tensor128x192>(const GemmProblem&, const GemmConfig&,
                                                  const LaunchContext&);

}  // namespace mygemm::cuda
