// Ops tests: one matrix product through the public ABI, in any of its forms, checked completely:
// the result against FP64, every other byte of every buffer against its value before the call.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/handle.h"
#include "support/oracle.h"

namespace mygemm_tests {

enum class Form { kSingle, kStrided, kPointers };

struct GemmCase {
  mygemmOperation_t transa = MYGEMM_OP_N;
  mygemmOperation_t transb = MYGEMM_OP_N;
  int64_t m = 0, n = 0, k = 0;
  float alpha = 1.25f;
  float beta = -0.5f;

  int64_t padding = 0;    // elements between the columns of A, B and C
  int64_t vector_ld = 0;  // leading dimension of those with one column; 0: as of the others
  size_t offset = 0;      // bytes of every base address past a multiple of 16
  mygemmPointerMode_t pointer_mode = MYGEMM_POINTER_MODE_HOST;

  Form form = Form::kSingle;
  int64_t batch = 1;
  int a_step = 1, b_step = 1, c_step = 1;  // stride: 1 forward, 0 one matrix for all, -1 backward

  bool integers = false;         // small integers, whose products and sums FP32 holds exactly
  bool poisoned_inputs = false;  // A and B hold NaN: they must not be read
  bool null_inputs = false;      // A and B are NULL
  bool poisoned_c = false;       // C holds NaN: it must not be read
  uint64_t seed = 1;

  // Nothing is added to beta * C.
  bool scales_only() const { return k == 0 || alpha == 0; }
  std::string text() const;
};

// Runs the case and, where it succeeds, checks everything. With a tally, the handle has a kernel
// forced that may refuse the case; without, the call must succeed.
void run_gemm(mygemmHandle_t handle, const GemmCase& gemm, RowTally* tally = nullptr);

}  // namespace mygemm_tests
