// The instances of the cluster split-K kernels of 16-bit operands on tensor cores.
#include "kernels/gemm/tensor16/split.cuh"

namespace mygemm::cuda {

template Status launch_gemm_tensor16_split<Tensor16Split_128x64>(const GemmProblem&,
                                                                 const GemmConfig&,
                                                                 const LaunchContext&);
template Status launch_gemm_tensor16_split<Tensor16Split_128x128>(const GemmProblem&,
                                                                  const GemmConfig&,
                                                                  const LaunchContext&);

}  // namespace mygemm::cuda
