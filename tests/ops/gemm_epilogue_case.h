// Ops tests: one general product, mygemm_gemm, in any of its forms, checked completely: against
// mygemm_sgemm on the same handle followed by bias and activation in the test, and every other byte
// of every buffer against its value before the call. Sums, bias, RELU and its gradient must have
// the same bits as separate steps, and so must what activations leave in aux; GELU and its gradient
// may differ by rounding.
#pragma once

#include <cstdint>
#include <string>

#include "gemm_case.h"
#include "support/handle.h"

namespace mygemm_tests {

struct EpilogueCase {
  int64_t m, n, k;
  mygemmOperation_t transa = MYGEMM_OP_N, transb = MYGEMM_OP_N;
  mygemmActivation_t activation = MYGEMM_ACTIVATION_NONE;
  bool bias = true;
  float alpha = 1.25f, beta = -0.5f;
  bool own_c = false;                  // C is not D
  int64_t padding = 0, c_padding = 5;  // between columns of A, B and D; of a C of its own
  int64_t vector_ld = 0;  // leading dimension of matrices with one column; 0: as of the others
  size_t offset = 0;      // bytes of base addresses past a multiple of 16
  mygemmPointerMode_t pointer_mode = MYGEMM_POINTER_MODE_HOST;
  Form form = Form::kSingle;
  int64_t batch = 1;
  int bias_step = 1;         // -1, 0 and 1: biases lie backward, one for all, forward
  bool null_inputs = false;  // A and B are NULL
  bool special = false;      // infinities and NaN in A, C, bias and aux

  bool leaves_aux = false;  // RELU and GELU keep their operand's bits or values
  int64_t aux_padding = 0;  // between columns of aux: floats, or words of bits
  int aux_step = 1;         // as bias_step; 0 for gradients only
  mygemmSums_t sums_of = MYGEMM_SUMS_NONE;
  int sums_step = 1;  // -1 or 1
  int calls = 1;      // that must leave the same bits

  bool is_gradient() const {
    return activation == MYGEMM_ACTIVATION_RELU_GRADIENT ||
           activation == MYGEMM_ACTIVATION_GELU_GRADIENT;
  }
  bool has_aux() const { return leaves_aux || is_gradient(); }
  bool aux_is_bits() const {
    return activation == MYGEMM_ACTIVATION_RELU || activation == MYGEMM_ACTIVATION_RELU_GRADIENT;
  }
  bool sums() const { return k > 0 && alpha != 0; }
  std::string text() const;
};

// Runs the case and, where its forced kernel does not refuse it, checks everything. Without a tally
// no kernel is forced, and the call must succeed.
void run_epilogue(mygemmHandle_t handle, const EpilogueCase& gemm, RowTally* tally);

}  // namespace mygemm_tests
