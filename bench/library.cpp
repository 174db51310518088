// See library.h.
#include "library.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "gpu.h"

namespace bench {

void check(mygemmStatus_t status, const char* function) {
  if (status != MYGEMM_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(function) + ": " + mygemm_status_string(status) + ": " +
                             mygemm_last_error());
  }
}

// The text begins with "chosen: <kernel> ..."; the kernels follow as
// "  <kernel>  <number> us: <config>; <figures>" or "  <kernel>  cannot run: <reason>".
Explanation explain(const ExplainCall& call) {
  size_t length = 0;
  check(call(nullptr, 0, &length), "mygemm_explain");
  std::string text(length + 1, '\0');
  check(call(text.data(), text.size(), nullptr), "mygemm_explain");
  text.resize(length);

  Explanation explanation;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "chosen:") {
      explanation.chosen = second;
    } else if (line.rfind("  ", 0) == 0 && third.rfind("us", 0) == 0) {
      const size_t figures = line.rfind("; ");
      explanation.kernels.push_back({first, std::strtod(second.c_str(), nullptr),
                                     figures == std::string::npos ? "" : line.substr(figures + 2)});
    } else if (line.rfind("  ", 0) == 0 && second == "cannot") {
      explanation.kernels.push_back({first, std::nullopt, ""});
    }
  }
  if (explanation.chosen.empty()) {
    throw std::runtime_error("mygemm_explain names no chosen kernel:\n" + text);
  }
  return explanation;
}

mygemmHandle_t create_handle(const Machine& machine) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = machine.cuda() ? MYGEMM_BACKEND_CUDA : MYGEMM_BACKEND_HOST;
  mygemmHandle_t handle = nullptr;
  check(mygemm_create_with_config(&handle, &config), "mygemm_create_with_config");
  return handle;
}

Library::~Library() {
  for (const auto& [key, handle] : handles_) {
    mygemm_destroy(handle);
  }
}

void Library::set_invariance(const std::string& name) {
  invariance_ = name == "batch" ? MYGEMM_INVARIANCE_BATCH : MYGEMM_INVARIANCE_NONE;
}

// A kernel is forced through the environment, which is read when a handle is created.
mygemmHandle_t Library::handle(Family family, const std::string& kernel, mygemmMathMode_t math) {
  const auto key = std::make_tuple(family, kernel, math);
  if (const auto found = handles_.find(key); found != handles_.end()) {
    check(mygemm_set_invariance(found->second, invariance_), "mygemm_set_invariance");
    return found->second;
  }
  const char* variable = mygemm::cli::force_variable(family);
  const char* was = std::getenv(variable);
  const std::optional<std::string> saved = was ? std::optional<std::string>(was) : std::nullopt;
  if (!kernel.empty()) {
    setenv(variable, kernel.c_str(), 1);
  } else if (math != math_) {
    unsetenv(variable);
  }
  mygemmHandle_t handle = create_handle(*machine_);
  if (saved) {
    setenv(variable, saved->c_str(), 1);
  } else {
    unsetenv(variable);
  }
  check(mygemm_set_stream(handle, machine_->cuda() ? gpu::stream() : nullptr), "mygemm_set_stream");
  check(mygemm_set_math_mode(handle, math), "mygemm_set_math_mode");
  check(mygemm_set_invariance(handle, invariance_), "mygemm_set_invariance");
  handles_.emplace(key, handle);
  return handle;
}

}  // namespace bench
