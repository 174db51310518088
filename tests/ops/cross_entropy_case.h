// Ops tests: one cross entropy through the public ABI, checked completely: loss, log-sum-exp and
// gradient against FP64, every other byte of every buffer against its value before the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/handle.h"
#include "support/oracle.h"

namespace mygemm_tests {

struct LossCase {
  int64_t rows = 1, cols = 1;
  mygemmDataType_t in = MYGEMM_R_32F, out = MYGEMM_R_32F;  // x and dx
  mygemmIndexType_t targets = MYGEMM_INDEX_64I;
  bool gradient = true, loss = true, lse = true;  // which are asked for
  bool in_place = false;
  float smoothing = 0, z_loss = 0, scale = 1;
  int64_t stride_dloss = -1;  // -1: no dloss
  int64_t ignore_index = -100;
  bool some_without_class = false;  // some targets are ignored, some are no class
  int64_t padding = 0;              // columns of poison between rows, in both matrices
  size_t offset = 0;                // elements of every base address past a multiple of 16
  double range = 6;                 // of the logits, around 0
  std::vector<double> first_row;    // replaces the random logits of row 0
  int64_t first_target = -1;        // of row 0; -1: random
  uint64_t seed = 1;

  std::string text() const;
};

// See run_gemm().
void run_cross_entropy(mygemmHandle_t handle, const LossCase& test, RowTally* tally = nullptr);

}  // namespace mygemm_tests
