// Test support: see handle.h.
#include "support/handle.h"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace mygemm_tests {
namespace {

constexpr const char* force_variable(Family family) {
  switch (family) {
    case Family::kGemm: return "MYGEMM_FORCE_GEMM";
    case Family::kGrouped: return "MYGEMM_FORCE_GROUPED";
    case Family::kSoftmax:
    case Family::kMaskedSoftmax: return "MYGEMM_FORCE_SOFTMAX";
    case Family::kCrossEntropy: return "MYGEMM_FORCE_CROSS_ENTROPY";
    case Family::kTranspose: return "MYGEMM_FORCE_TRANSPOSE";
  }
  return "";
}

mygemmStatus_t create(mygemmHandle_t* handle) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = backend();
  config.workspace_bytes = 0;  // workspaces are the tests' own
  return mygemm_create_with_config(handle, &config);
}

}  // namespace

ScopedEnv::ScopedEnv(const char* name, const char* value) : name_(name) {
  const char* old_value = std::getenv(name);
  was_set_ = old_value != nullptr;
  if (was_set_) old_value_ = old_value;
  if (value != nullptr) {
    setenv(name, value, 1);
  } else {
    unsetenv(name);
  }
}

ScopedEnv::~ScopedEnv() {
  if (was_set_) {
    setenv(name_.c_str(), old_value_.c_str(), 1);
  } else {
    unsetenv(name_.c_str());
  }
}

Handle::Handle(size_t workspace_bytes) : Handle(Family::kGemm, "", workspace_bytes) {}

Handle::Handle(Family family, const std::string& row, size_t workspace_bytes) {
  const ScopedEnv forced(force_variable(family), row.empty() ? nullptr : row.c_str());
  if (create(&handle_) != MYGEMM_STATUS_SUCCESS) throw std::runtime_error(mygemm_last_error());
  // The math mode that every kernel takes.
  if (!row.empty()) mygemm_set_math_mode(handle_, MYGEMM_MATH_FAST);
  set_workspace(workspace_bytes);
}

Handle::~Handle() { mygemm_destroy(handle_); }

void Handle::set_workspace(size_t bytes) {
  DeviceBuffer workspace(bytes, 0, 256);
  void* address = bytes > 0 ? workspace.data() : nullptr;
  if (mygemm_set_workspace(handle_, address, bytes) != MYGEMM_STATUS_SUCCESS) {
    throw std::runtime_error(mygemm_last_error());
  }
  workspace_ = std::move(workspace);
}

bool runs_on_tensor_cores(const std::string& kernel) {
  return kernel.starts_with("tf32x3_") || kernel.starts_with("bf16x6_") || kernel == "packed";
}

std::vector<std::string> row_names(Family family) {
  const char* device = kBuild == Build::kHost ? "host" : "sm_90";
  const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
    switch (family) {
      case Family::kGemm:
        return mygemm_explain_sgemm(nullptr, device, MYGEMM_OP_N, MYGEMM_OP_N, 8, 8, 8, nullptr, 8,
                                    0, nullptr, 8, 0, nullptr, 8, 0, 1, text, capacity, length);
      case Family::kGrouped: {
        mygemmGemm_t call = MYGEMM_GEMM_INIT;
        const mygemmGroups_t groups = MYGEMM_GROUPS_INIT;
        call.m = call.n = call.k = 8;
        return mygemm_explain_gemm_grouped(nullptr, device, &call, &groups, text, capacity, length);
      }
      case Family::kSoftmax:
      case Family::kMaskedSoftmax:
        return mygemm_explain_softmax(nullptr, device, MYGEMM_SOFTMAX, 8, 8, nullptr, MYGEMM_R_32F,
                                      8, nullptr, MYGEMM_R_32F, 8, text, capacity, length);
      case Family::kCrossEntropy: {
        mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
        call.rows = call.cols = 8;
        return mygemm_explain_cross_entropy(nullptr, device, &call, text, capacity, length);
      }
      case Family::kTranspose: break;
    }
    return mygemm_explain_transpose(nullptr, device, 4, 8, 8, nullptr, 8, 0, nullptr, 8, 0, 1, text,
                                    capacity, length);
  });
  std::vector<std::string> names;
  for (const auto& [name, reason] : rows) {
    const bool is_masked = name.find("masked") != std::string::npos;
    const bool is_host_row = name.rfind("host_", 0) == 0;
    const bool other_softmax = (family == Family::kSoftmax && is_masked) ||
                               (family == Family::kMaskedSoftmax && !is_masked);
    if (is_host_row == (kBuild == Build::kHost) && !other_softmax) names.push_back(name);
  }
  return names;
}

std::map<std::string, std::string> parse_explanation(const std::string& text) {
  constexpr const char* kCannotRun = "cannot run: ";
  std::map<std::string, std::string> rows;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // "chosen: ..."
  while (std::getline(lines, line)) {
    if (line.rfind("  ", 0) != 0) continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    const size_t reason = line.find(kCannotRun);
    rows[name] = reason == std::string::npos ? "" : line.substr(reason + std::strlen(kCannotRun));
  }
  return rows;
}

void BackendTest::SetUp() {
  mygemmHandle_t handle = nullptr;
  const mygemmStatus_t status = create(&handle);
  mygemm_destroy(handle);
  if (kBuild == Build::kGpu && status == MYGEMM_STATUS_NOT_INITIALIZED) {
    GTEST_SKIP() << "no GPU: " << mygemm_last_error();
  }
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
}

bool RowTally::ran(mygemmStatus_t status, const std::map<std::string, std::string>& rows) {
  ++cases_;
  const auto row = rows.find(row_);
  if (row == rows.end()) {
    ADD_FAILURE() << "explain does not list " << row_;
    return false;
  }
  const std::string& reason = row->second;
  if (!reason.empty()) {
    EXPECT_EQ(status, MYGEMM_STATUS_NOT_SUPPORTED) << "explain: " << reason;
    ++reasons_[reason];
    return false;
  }
  EXPECT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  ++cases_run_;
  return status == MYGEMM_STATUS_SUCCESS;
}

void RowTally::finish() const {
  ASSERT_GT(cases_, 0);
  if (cases_run_ > 0) return;
  // A kernel that the machine cannot run is refused for one reason; problems have several.
  ASSERT_EQ(reasons_.size(), 1u) << row_ << " ran none of " << cases_ << " cases";
  GTEST_SKIP() << row_ << ": " << reasons_.begin()->first;
}

}  // namespace mygemm_tests
