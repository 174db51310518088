// ABI tests: the pointers in arrays of matrix pointers are checked where they can be read, on the
// host, before anything is written; leading dimensions are checked for the size of a matrix.
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

TEST_F(PointerArrays, LeadingDimensionsThatNoMatrixCanHave) {
  const float one = 1.0f, zero = 0.0f;
  float inputs[2] = {2.0f, 3.0f}, outputs[2] = {7.0f, 7.0f};
  const float *a[1] = {inputs}, *b[1] = {inputs + 1};
  float* c[1] = {outputs};
  const auto multiply = [&](int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                            int64_t ldc) {
    return mygemm_sgemm_batched(handle_, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, &one, a, lda, b, ldb,
                                &zero, c, ldc, 1);
  };
  const auto refused = [](const std::string& words) {
    return std::string(mygemm_last_error()).find(words) != std::string::npos;
  };
  constexpr int64_t kLd = int64_t{1} << 62;
  EXPECT_EQ(multiply(1, 1, 2, kLd, 2, 1), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(
      refused("each matrix of A spans 1.84e+19 bytes, which does not fit the address space "
              "(ld = 4611686018427387904)"))
      << mygemm_last_error();
  EXPECT_EQ(multiply(1, 2, 1, 1, kLd, 1), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(refused("each matrix of B spans ")) << mygemm_last_error();
  EXPECT_EQ(multiply(1, 2, 1, 1, 1, kLd), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_TRUE(refused("each matrix of C spans ")) << mygemm_last_error();
  EXPECT_EQ(outputs[0], 7.0f);
  EXPECT_EQ(multiply(1, 1, 1, kLd, INT64_MAX, kLd), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(outputs[0], 6.0f);
}

}  // namespace
}  // namespace mygemm_tests
