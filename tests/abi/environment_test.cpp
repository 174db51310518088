// ABI tests: the environment variables that are read when a handle is created. An unknown value is
// an error that names the variable, not a silent default.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/handle.h"

namespace mygemm_tests {
namespace {

// Creates and destroys a handle.
mygemmStatus_t create(mygemmBackend_t asked_for, mygemmBackend_t* backend_in_use = nullptr) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = asked_for;
  mygemmHandle_t handle = nullptr;
  const mygemmStatus_t status = mygemm_create_with_config(&handle, &config);
  EXPECT_EQ(status == MYGEMM_STATUS_SUCCESS, handle != nullptr);
  if (handle != nullptr && backend_in_use != nullptr) {
    EXPECT_EQ(mygemm_get_backend(handle, backend_in_use), MYGEMM_STATUS_SUCCESS);
  }
  mygemm_destroy(handle);
  return status;
}

TEST(Environment, UnknownValuesAreErrorsThatNameTheVariable) {
  for (const char* variable :
       {"MYGEMM_BACKEND", "MYGEMM_MATH", "MYGEMM_INVARIANCE", "MYGEMM_FORCE_GEMM",
        "MYGEMM_FORCE_SOFTMAX", "MYGEMM_FORCE_TRANSPOSE"}) {
    const ScopedEnv bad(variable, "no_such_thing");
    const mygemmBackend_t asked_for =
        std::string(variable) == "MYGEMM_BACKEND" ? MYGEMM_BACKEND_AUTO : MYGEMM_BACKEND_HOST;
    EXPECT_EQ(create(asked_for), MYGEMM_STATUS_INVALID_VALUE) << variable;
    const std::string sentence = mygemm_last_error();
    EXPECT_NE(sentence.find(variable), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("no_such_thing"), std::string::npos) << sentence;
  }
}

TEST(Environment, EmptyValuesAreAsIfUnset) {
  const ScopedEnv backend("MYGEMM_BACKEND", "");
  const ScopedEnv math("MYGEMM_MATH", "");
  const ScopedEnv invariance("MYGEMM_INVARIANCE", "");
  const ScopedEnv gemm("MYGEMM_FORCE_GEMM", "");
  EXPECT_EQ(create(MYGEMM_BACKEND_HOST), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
}

TEST(Environment, BackendIsForThoseWhoLeaveItOpen) {
  const ScopedEnv host("MYGEMM_BACKEND", "host");
  mygemmBackend_t in_use = MYGEMM_BACKEND_AUTO;
  EXPECT_EQ(create(MYGEMM_BACKEND_AUTO, &in_use), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(in_use, MYGEMM_BACKEND_HOST);
  const ScopedEnv cuda("MYGEMM_BACKEND", "cuda");
  EXPECT_EQ(create(MYGEMM_BACKEND_HOST, &in_use), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(in_use, MYGEMM_BACKEND_HOST);
}

// No machine has 1000 GPUs: with AUTO a device that is named is not replaced by the host.
TEST(Environment, HostIsNoDeviceThatWasNamed) {
  const ScopedEnv none("MYGEMM_BACKEND", "");
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.device = 1000;
  mygemmHandle_t handle = nullptr;
  EXPECT_NE(mygemm_create_with_config(&handle, &config), MYGEMM_STATUS_SUCCESS);
  const std::string sentence = mygemm_last_error();
  EXPECT_TRUE(sentence.starts_with("config->device = 1000, but there ")) << sentence;
  const ScopedEnv host("MYGEMM_BACKEND", "host");
  EXPECT_EQ(mygemm_create_with_config(&handle, &config), MYGEMM_STATUS_SUCCESS);
  mygemm_destroy(handle);
}

TEST(Environment, MathSetsTheModeOfNewHandles) {
  for (const auto& [name, value] :
       {std::pair("default", MYGEMM_MATH_DEFAULT), std::pair("strict", MYGEMM_MATH_STRICT),
        std::pair("fast", MYGEMM_MATH_FAST)}) {
    const ScopedEnv math("MYGEMM_MATH", name);
    Handle handle;
    mygemmMathMode_t mode = MYGEMM_MATH_DEFAULT;
    EXPECT_EQ(mygemm_get_math_mode(handle, &mode), MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(mode, value);
  }
}

TEST(Environment, InvarianceSetsTheModeOfNewHandles) {
  for (const auto& [name, value] :
       {std::pair("none", MYGEMM_INVARIANCE_NONE), std::pair("batch", MYGEMM_INVARIANCE_BATCH)}) {
    const ScopedEnv invariance("MYGEMM_INVARIANCE", name);
    Handle handle;
    mygemmInvariance_t mode = MYGEMM_INVARIANCE_NONE;
    EXPECT_EQ(mygemm_get_invariance(handle, &mode), MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(mode, value);
  }
}

TEST(Environment, ForcedKernelThatCannotRunIsNotSupported) {
  // A kernel for GPUs: a known name, but not for this backend.
  Handle handle(Family::kTranspose, "tiled", 0);
  const float in = 1;
  float out = 0;
  EXPECT_EQ(mygemm_transpose(handle, 4, 1, 1, &in, 1, &out, 1), MYGEMM_STATUS_NOT_SUPPORTED);
  const std::string sentence = mygemm_last_error();
  EXPECT_NE(sentence.find("MYGEMM_FORCE_TRANSPOSE"), std::string::npos) << sentence;
  EXPECT_EQ(out, 0);
}

TEST(Environment, LogHasOneLineForEachCall) {
  char path[] = "/tmp/mygemm_log_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  close(file);
  {
    const ScopedEnv log("MYGEMM_LOG", path);
    Handle handle;
    const float in[6] = {1, 2, 3, 4, 5, 6};
    float out[6];
    EXPECT_EQ(mygemm_transpose(handle, 4, 2, 3, in, 3, out, 2), MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(mygemm_softmax(handle, MYGEMM_LOG_SOFTMAX, 2, 3, 1, in, MYGEMM_R_32F, 3, out,
                             MYGEMM_R_32F, 3),
              MYGEMM_STATUS_SUCCESS);
    // Refused; nothing to do.
    EXPECT_EQ(mygemm_transpose(handle, 4, 2, 3, in, 1, out, 2), MYGEMM_STATUS_INVALID_VALUE);
    EXPECT_EQ(mygemm_transpose(handle, 4, 0, 3, in, 3, out, 1), MYGEMM_STATUS_SUCCESS);
  }
  std::ifstream stream(path);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  std::remove(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
  EXPECT_NE(text.find("mygemm transpose --element-size 4 --rows 2 --cols 3"), std::string::npos)
      << text;
  EXPECT_NE(text.find("mygemm softmax --mode log --direction forward --rows 2 --cols 3"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("status=0"), std::string::npos) << text;
  EXPECT_NE(text.find("--ldin 1 --ldout 2 --batch 1 --stride-in 0 --stride-out 0 --in-place 0 # "
                      "kernel=none status=7 process="),
            std::string::npos)
      << text;
  EXPECT_NE(text.rfind("# kernel=none status=0 process=" + std::to_string(getpid())),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with(" device=host\n")) << text;
}

TEST(Environment, LogThatCannotBeOpenedIsLostAlone) {
  const ScopedEnv log("MYGEMM_LOG", "/nonexistent/log");
  Handle handle;
  const float in = 1;
  float out = 0;
  EXPECT_EQ(mygemm_transpose(handle, 4, 1, 1, &in, 1, &out, 1), MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(out, 1);
}

}  // namespace
}  // namespace mygemm_tests
