// The last step of a triangle's diagonal blocks: from sums of whole blocks to the triangles of D.
// Declarations for either backend.
#pragma once

#include "kernels/kernel.h"

namespace mygemm {

// The sums op(A) op(B) of each matrix of a batch, whole: column-major m x n.
struct WholeSums {
  float* data;
  int64_t ld, stride;
};

namespace cuda {
// The filled part of D = alpha * sums + beta * C, for all matrices of p; A and B are not read.
Status launch_triangle(const GemmProblem& p, const WholeSums& sums, const LaunchContext& context);
}  // namespace cuda

namespace host {
Status launch_triangle(const GemmProblem& p, const WholeSums& sums);
}  // namespace host

}  // namespace mygemm
