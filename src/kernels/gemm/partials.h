// The second kernel of products whose k is split over blocks.
#pragma once

#include "plan/plan.h"

namespace mygemm::cuda {

// C = alpha times the sum of the partial sums, which lie dense, [split][batch][n][m], plus beta C.
// What the stream did before must have written them.
Status launch_add_partials(const GemmProblem&, int64_t splits, const float* partials,
                           const LaunchContext&);

}  // namespace mygemm::cuda
