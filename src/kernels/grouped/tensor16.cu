// The instances of the kernels of grouped 16-bit products.
#include "kernels/grouped/tensor16.cuh"

namespace mygemm::cuda {

template Status launch_grouped_tensor16<Grouped16Mapped>(const GroupedProblem&, const GemmConfig&,
                                                         const LaunchContext&);
template Status launch_grouped_tensor16<Grouped16Copied>(const GroupedProblem&, const GemmConfig&,
                                                         const LaunchContext&);

}  // namespace mygemm::cuda
