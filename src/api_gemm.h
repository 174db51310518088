// From the descriptor of a product, mygemmGemm_t, to its problem: for mygemm_gemm and for the calls
// that take such a descriptor with another one.
#pragma once

#include "context.h"
#include "mygemm/mygemm.h"

namespace mygemm {

// Checks the pointer to the caller's descriptor, and its struct_size.
Status read_call(const mygemmGemm_t* call);

// Makes a problem from a descriptor, of which it checks the enumerations and types only.
Status make_problem(const mygemmContext* context, const mygemmGemm_t& call, GemmProblem* problem);

// In explain calls and workspace queries, leading dimensions of 0 mean the smallest legal ones.
void complete_leading_dimensions(GemmProblem* p);

}  // namespace mygemm
