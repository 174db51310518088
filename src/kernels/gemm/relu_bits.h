// The pass over D that applies RELU and leaves its bits, behind a product without activation. A
// word of bits has 32 rows of a column, which no product's thread has. Declarations for either
// backend.
#pragma once

#include "kernels/kernel.h"

namespace mygemm {

namespace cuda {
Status launch_relu_bits(const GemmProblem& p, const LaunchContext& context);
}  // namespace cuda

namespace host {
Status launch_relu_bits(const GemmProblem& p);
}  // namespace host

}  // namespace mygemm
