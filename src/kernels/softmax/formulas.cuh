// The formulas of mygemm_softmax and mygemm_softmax_backward, element by element: the one place
// where they stand. Device only.
#pragma once

#include "problem.h"

namespace mygemm {

// s = scale * x, rounded. Never fused into the subtraction of the maximum: of two large equal
// numbers that would leave the rounding error of one, and its exponential may be anything.
__device__ __forceinline__ float scaled(const SoftmaxProblem& p, float x) {
  return __fmul_rn(p.scale, x);
}

// What a row's reduction leaves for its elements. Forward: the maximum and 1 / sum (log: log sum).
struct RowNormaliser {
  float maximum, factor;
};

__device__ __forceinline__ RowNormaliser normaliser(const SoftmaxProblem& p, float maximum,
                                                    float sum) {
  return {maximum, p.log_mode() ? logf(sum) : 1.0f / sum};
}

// y from s = scale * x. The maximum is subtracted before anything else is done to s.
__device__ __forceinline__ float softmax_of(const SoftmaxProblem& p, float s,
                                            const RowNormaliser& row) {
  const float shifted = s - row.maximum;
  return p.log_mode() ? shifted - row.factor : expf(shifted) * row.factor;
}

// What an element adds to the row's sum in the gradient.
__device__ __forceinline__ float gradient_term(const SoftmaxProblem& p, float y, float dy) {
  return p.log_mode() ? dy : dy * y;
}

// dx from the row's sum of the terms above.
__device__ __forceinline__ float gradient_of(const SoftmaxProblem& p, float y, float dy,
                                             float sum) {
  return p.scale * (p.log_mode() ? dy - expf(y) * sum : y * (dy - sum));
}

}  // namespace mygemm
