// A test with a handle of the cuBLAS, or cuBLASLt, that only records calls.
#pragma once

#include <gtest/gtest.h>

#include "fake_cublas.h"
#include "support/handle.h"

namespace mygemm_tests {

template <class FakeHandle, auto create, auto destroy>
class FakeHandleTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    ASSERT_EQ(create(&handle_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (handle_) destroy(handle_);
    fake_cublas_answer(CUBLAS_STATUS_SUCCESS);
  }

  FakeHandle handle_ = nullptr;
};

using CublasHandleTest = FakeHandleTest<cublasHandle_t, cublasCreate_v2, cublasDestroy_v2>;

}  // namespace mygemm_tests
