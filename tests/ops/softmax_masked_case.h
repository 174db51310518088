// Ops tests: one softmax with masks, or its gradient, through the public ABI, checked completely:
// the result against FP64, every other byte of every buffer against its value before the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softmax_case.h"

namespace mygemm_tests {

// In softmax.rows, batches of `groups` groups of `group_rows` rows.
struct MaskedSoftmaxCase {
  SoftmaxCase softmax;
  int64_t group_rows = 0, batch_groups = 0;
  float softcap = 0;
  mygemmDataType_t x = MYGEMM_R_32F;  // backward with softcap
  bool over_x = false;                // backward with softcap: dx is x

  bool mask = false;
  mygemmDataType_t mask_type = MYGEMM_R_32F;
  // Which strides of the mask are not 0; a stride of columns of -1 or of more than 1 instead of 1.
  bool by_batch = true, by_group = true, by_row = true;
  int64_t mask_col = 1;
  int64_t mask_padding = 0;  // elements between the mask's rows
  size_t mask_offset = 0;
  double masked_share = 0.3;  // of the mask's elements are -inf

  bool causal = false;
  int64_t causal_offset = 0;
  bool lengths = false;
  mygemmIndexType_t lengths_type = MYGEMM_INDEX_32I;
  bool length_of_row = false, length_of_group = true;  // and of each batch always
  bool zeros = false;                                  // what becomes of empty rows

  std::string text() const;
};

// See run_gemm(). Masked elements of x and of dy are NaN.
void run_masked_softmax(mygemmHandle_t handle, const MaskedSoftmaxCase& test,
                        RowTally* tally = nullptr);

}  // namespace mygemm_tests
