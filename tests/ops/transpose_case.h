// Ops tests: one transpose through the public ABI, in any of its forms, checked bit for bit: the
// result, and that every other byte of every buffer is unchanged.
#pragma once

#include <cstdint>
#include <string>

#include "support/handle.h"

namespace mygemm_tests {

struct TransposeCase {
  int64_t element_size = 4;
  int64_t rows = 1, cols = 1;
  int64_t in_padding = 0, out_padding = 0;  // elements between rows
  int64_t vector_ld = 0;  // leading dimension of matrices with one row; 0: as of the others
  size_t offset = 0;      // bytes of the base addresses past a multiple of 16
  bool in_place = false;
  int64_t batch = 1;
  int step = 1;     // of in: 1 forward, 0 one matrix for all, -1 backward
  int64_t gap = 1;  // elements between the matrices of a batch
  uint64_t seed = 1;

  std::string text() const;
};

// See run_gemm().
void run_transpose(mygemmHandle_t handle, const TransposeCase& transpose,
                   RowTally* tally = nullptr);

}  // namespace mygemm_tests
