// Test support: handles that free themselves, handles with a kernel forced, and the names of the
// kernels of the backend under test, read from the library's own explanations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mygemm/mygemm.h"
#include "support/memory.h"

namespace mygemm_tests {

// Softmaxes with masks have kernels of their own in softmax's table.
enum class Family { kGemm, kGrouped, kSoftmax, kCrossEntropy, kTranspose, kMaskedSoftmax };

// Sets an environment variable during its lifetime. The library reads them when a handle is
// created.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const char* value);  // value = nullptr removes it
  ~ScopedEnv();
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  std::string name_;
  std::string old_value_;
  bool was_set_;
};

// A handle of the backend under test with a workspace of its own. Throws where it cannot be made.
class Handle {
 public:
  explicit Handle(size_t workspace_bytes = 0);
  // With a kernel forced; "" forces none.
  Handle(Family family, const std::string& row, size_t workspace_bytes);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  operator mygemmHandle_t() const { return handle_; }
  // Replaces the workspace; the old one is freed.
  void set_workspace(size_t bytes);
  bool workspace_bands_intact() const { return workspace_.bands_intact(); }

 private:
  mygemmHandle_t handle_ = nullptr;
  DeviceBuffer workspace_;
};

// The backend under test in this build.
inline mygemmBackend_t backend() {
  return kBuild == Build::kHost ? MYGEMM_BACKEND_HOST : MYGEMM_BACKEND_CUDA;
}

// Every kernel of the operation for the backend under test, whether or not this machine can run it.
// Needs no handle and no GPU.
std::vector<std::string> row_names(Family family);
// Whether the product kernel of this name runs on tensor cores.
bool runs_on_tensor_cores(const std::string& kernel);

// The kernels of an explanation: name -> the reason why it cannot run, empty where it can.
std::map<std::string, std::string> parse_explanation(const std::string& text);

// Calls an explain function until the text is whole: f(char* text, size_t capacity, size_t* length)
// returns its status.
template <class F>
std::map<std::string, std::string> explained_rows(F f) {
  size_t length = 0;
  EXPECT_EQ(f(nullptr, size_t{0}, &length), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  std::string text(length + 1, '\0');
  EXPECT_EQ(f(text.data(), text.size(), &length), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  text.resize(length);
  return parse_explanation(text);
}

// Base of tests that compute: skips where the tests are built for a GPU and there is none.
class BackendTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

// The same, once for every kernel of an operation.
class RowTest : public BackendTest, public ::testing::WithParamInterface<std::string> {};

// The parameter's value as part of a test's name.
inline std::string row_test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

// Counts the cases that a forced kernel ran, and compares its status with the explanation.
class RowTally {
 public:
  explicit RowTally(std::string row) : row_(std::move(row)) {}

  const std::string& row() const { return row_; }
  // `status` is that of the call with the kernel forced, `rows` the explanation of the call.
  // Returns true where the kernel ran, and its result must be checked.
  bool ran(mygemmStatus_t status, const std::map<std::string, std::string>& rows);
  // Fails the test where no case ran, although the machine can run the kernel; skips it where the
  // machine cannot.
  void finish() const;
  bool ran_some() const { return cases_run_ > 0; }

 private:
  std::string row_;
  int cases_ = 0;
  int cases_run_ = 0;
  std::map<std::string, int> reasons_;
};

}  // namespace mygemm_tests
