// ABI tests: the pointers in arrays of matrix pointers are checked where they can be read, on the
// host, before anything is written.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "mygemm/mygemm.h"
#include "support/handle.h"

namespace mygemm_tests {
namespace {

class PointerArrays : public ::testing::Test {
 protected:
  mygemmStatus_t multiply(float alpha) {
    const float beta = 0.0f;
    return mygemm_sgemm_batched(handle_, MYGEMM_OP_N, MYGEMM_OP_N, 1, 1, 1, &alpha, a_, 1, b_, 1,
                                &beta, c_, 1, 3);
  }

  Handle handle_;
  float one_ = 1.0f, results_[3] = {7.0f, 7.0f, 7.0f};
  const float* a_[3] = {&one_, &one_, &one_};
  const float* b_[3] = {&one_, &one_, &one_};
  float* c_[3] = {&results_[0], &results_[1], &results_[2]};
};

TEST_F(PointerArrays, NullMatrixIsNamedAndNothingIsWritten) {
  a_[2] = nullptr;
  EXPECT_EQ(multiply(1.0f), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_NE(std::string(mygemm_last_error()).find("A[2]"), std::string::npos)
      << mygemm_last_error();
  EXPECT_EQ(results_[0], 7.0f);
}

TEST_F(PointerArrays, MisalignedMatrixIsNamed) {
  c_[1] = reinterpret_cast<float*>(reinterpret_cast<uintptr_t>(&results_[1]) + 2);
  EXPECT_EQ(multiply(1.0f), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_NE(std::string(mygemm_last_error()).find("C[1]"), std::string::npos)
      << mygemm_last_error();
}

TEST_F(PointerArrays, InputsThatAreNotReadMayBeNull) {
  a_[0] = b_[1] = nullptr;
  EXPECT_EQ(multiply(0.0f), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(results_[2], 0.0f);
}

}  // namespace
}  // namespace mygemm_tests
