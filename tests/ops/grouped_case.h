// Ops tests: one call of mygemm_gemm_grouped, in any of its forms, checked completely: each result
// is a number that the exact one, moved by no more than FP32 sums may err, rounds to; every other
// byte of every buffer is as before the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/handle.h"

namespace mygemm_tests {

enum class GroupForm {
  kStackedM,
  kStackedN,
  kStackedK,
  kStrided,   // sizes of their own, in matrices that are as far apart as the largest need
  kPointers,  // and leading dimensions of their own
};

struct GroupSize {
  int64_t m, n, k;
};

struct GroupedCase {
  mygemmDataType_t in = MYGEMM_R_32F, out = MYGEMM_R_32F;
  bool mixed = false;  // A is FP32, B is BF16
  mygemmOperation_t transa = MYGEMM_OP_N, transb = MYGEMM_OP_N;
  GroupForm form = GroupForm::kStackedN;
  // Where matrices are stacked, two of the sizes are alike in all products.
  std::vector<GroupSize> sizes;
  int64_t room = 0;         // more of the total than the sizes add up to
  int64_t beyond = 0;       // device: added to the first size, past the call's most
  bool on_device = true;    // the sizes
  bool ends = false;        // stacked
  bool wide_index = false;  // 64 bits
  float alpha = 1.25f, beta = -0.5f;
  bool own_c = false;
  bool bias = false;
  mygemmActivation_t activation = MYGEMM_ACTIVATION_NONE;
  int64_t padding = 0;  // elements between columns
  size_t offset = 0;    // bytes of every base address past a multiple of 16; FP32: twice as many
  mygemmInvariance_t invariance = MYGEMM_INVARIANCE_NONE;
  mygemmMathMode_t math = MYGEMM_MATH_DEFAULT;
  mygemmPointerMode_t pointer_mode = MYGEMM_POINTER_MODE_HOST;
  int nan_product = -1;  // number of a product whose matrices are NaN throughout
  uint64_t seed = 1;

  bool stacked() const { return form <= GroupForm::kStackedK; }
  std::string text() const;
};

// Runs the case and, where it succeeds, checks everything. With a tally, the handle has a kernel
// forced that may refuse the case; without, the call must succeed.
void run_grouped(mygemmHandle_t handle, const GroupedCase& grouped, RowTally* tally = nullptr);

}  // namespace mygemm_tests
