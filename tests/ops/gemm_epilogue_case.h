// Ops tests: one general product, mygemm_gemm, in any of its forms, checked completely: against
// mygemm_sgemm on the same handle followed by bias and activation in the test, and every other byte
// of every buffer against its value before the call. Sums, bias and RELU must have the same bits as
// separate steps, GELU may differ by rounding.
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
  bool special = false;      // infinities and NaN in A, C and bias

  bool sums() const { return k > 0 && alpha != 0; }
  std::string text() const;
};

// Runs the case and, where its forced kernel does not refuse it, checks everything.
void run_epilogue(mygemmHandle_t handle, const EpilogueCase& gemm, RowTally* tally);

}  // namespace mygemm_tests
