// Between the second and the third stage of a call: leading dimensions and strides that place no
// element are replaced with small ones. Plans then depend on no such number, and kernels may
// compute addresses past the last column without overflow. Pure; no CUDA headers.
#pragma once

#include "problem.h"

namespace mygemm {

// The same problem, to be planned and launched; logs and explanations quote the caller's numbers. A
// product's matrix with at most one column gets the smallest leading dimension that is a multiple
// of 16 bytes, so that it is as aligned as its address; the one row of a softmax's or a transpose's
// matrix gets its length, as a matrix without gaps. Strides of at most one matrix become 0. The
// problem is legal: see validate.h.
GemmProblem tightened(GemmProblem problem);
// Products of a group have numbers of their own: those of the call stay.
inline GroupedProblem tightened(const GroupedProblem& problem) { return problem; }
SoftmaxProblem tightened(SoftmaxProblem problem);
CrossEntropyProblem tightened(CrossEntropyProblem problem);
TransposeProblem tightened(TransposeProblem problem);

}  // namespace mygemm
