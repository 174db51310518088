// The steps of a general product whose epilogue is more than its kernels store: the product itself;
// then RELU with its bits, in a pass over D; then sums, as the product of a matrix and a vector of
// ones. A triangle of a product has steps of its own. A product without these is one step.
#pragma once

#include "context.h"

namespace mygemm {

// The step that a kernel of the table computes, which is what a plan is made for.
GemmProblem product_step(GemmProblem p);

// All steps, for a problem that is valid. kernel: receives the name of the product's kernel.
Status compute_steps(const mygemmContext& context, const GemmProblem& given, const char** kernel);

}  // namespace mygemm
