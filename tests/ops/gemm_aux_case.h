// Ops tests: what a general product leaves besides D, checked completely: the operands of
// activations bit by bit, sums against FP64; and the factors of gradients.
#pragma once

#include <vector>

#include "gemm_epilogue_operands.h"

namespace mygemm_tests {

// The derivative of GELU's tanh form, and the bound of its error in FP32.
double gelu_derivative(double x);
constexpr double kGeluDerivativeError = 0x1p-20;

// t: the elements of D before the activation, in D's layout.
void check_aux(Operands* operands, const std::vector<float>& t);

// d: the elements of D as they are now.
void check_sums(Operands* operands, const std::vector<float>& d);

}  // namespace mygemm_tests
