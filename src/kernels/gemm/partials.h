// The second kernel of split-K products, which adds the partial sums of the first one.
#pragma once

#include "kernels/gemm/config.h"

namespace mygemm::cuda {

// D = the epilogue of the sums over config.splits partial sums, which lie in the workspace, dense,
// (split, batch, n, m). The grid before in the stream must have written them.
Status launch_add_partials(const GemmProblem&, const GemmConfig& config, const LaunchContext&);

}  // namespace mygemm::cuda
