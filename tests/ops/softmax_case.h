// Ops tests: one softmax or its gradient through the public ABI, checked completely: the result
// against FP64, every other byte of every buffer against its value before the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/handle.h"
#include "support/oracle.h"

namespace mygemm_tests {

// The input that the output overwrites.
enum class InPlace { kNo, kFirst, kSecond };  // kSecond: dy, backward only

struct SoftmaxCase {
  mygemmSoftmaxMode_t mode = MYGEMM_SOFTMAX;
  bool backward = false;
  int64_t rows = 1, cols = 1;
  float scale = 1;
  mygemmDataType_t in = MYGEMM_R_32F;   // x; backward: y
  mygemmDataType_t dy = MYGEMM_R_32F;   // backward only
  mygemmDataType_t out = MYGEMM_R_32F;  // y; backward: dx
  int64_t padding = 0;                  // columns of poison between rows, in every matrix
  int64_t vector_ld = 0;  // leading dimension of matrices with one row; 0: as of the others
  size_t offset = 0;      // elements of every base address past a multiple of 16
  size_t out_offset = 0;  // and of the output's, where it is a matrix of its own, past that
  InPlace in_place = InPlace::kNo;
  std::vector<double> first_row;  // forward: replaces the random numbers of row 0
  uint64_t seed = 1;

  std::string text() const;
};

// See run_gemm().
void run_softmax(mygemmHandle_t handle, const SoftmaxCase& softmax, RowTally* tally = nullptr);

}  // namespace mygemm_tests
