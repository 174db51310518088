// Runs the steps of a triangle of a product: see plan/triangle.h.
#pragma once

#include "context.h"

namespace mygemm {

// All steps, for a problem that is valid. kernel: receives the name of the first product's kernel.
Status compute_triangle(const mygemmContext& context, const GemmProblem& p, const char** kernel);

}  // namespace mygemm
