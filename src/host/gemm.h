// What the host rows of sgemm share. Host backend; includes only problem.h.
#pragma once

#include "problem.h"

namespace mygemm::host {

// C = beta * C for every matrix of the batch, without reading C where beta is 0: all that is left
// of a product whose k or alpha is 0.
void scale_output(const GemmProblem& problem);

}  // namespace mygemm::host
