// A handle of libmygemm as a C++ object, see session.h.
#include "session.h"

#include <cstdlib>
#include <string_view>

#include "error.h"
#include "progress.h"

namespace mygemm::cli {
namespace {

// Without cudart this command cannot allocate device memory for a CUDA handle.
mygemmBackend_t usable_backend(mygemmBackend_t asked) {
  if (has_device_memory() || asked == MYGEMM_BACKEND_HOST) return asked;
  const char* variable = std::getenv("MYGEMM_BACKEND");
  const bool by_variable =
      asked == MYGEMM_BACKEND_AUTO && variable != nullptr && std::string_view(variable) == "cuda";
  if (by_variable || asked == MYGEMM_BACKEND_CUDA) {
    throw Error(by_variable ? "MYGEMM_BACKEND =" : "--backend",
                " cuda, but this mygemm command was built without CUDA");
  }
  return MYGEMM_BACKEND_HOST;
}

}  // namespace

void check(mygemmStatus_t status) {
  if (status == MYGEMM_STATUS_SUCCESS) return;
  const std::string_view sentence = mygemm_last_error();
  throw Error(sentence.empty() ? mygemm_status_string(status) : sentence);
}

Session::Session(const Settings& settings) {
  settings.force_kernel();
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = usable_backend(settings.backend);
  if (settings.workspace_mib) config.workspace_bytes = *settings.workspace_mib << 20;
  mygemmHandle_t handle = nullptr;
  const Progress progress("starting");  // CUDA may take its time
  check(mygemm_create_with_config(&handle, &config));
  handle_.reset(handle);
  if (settings.math) check(mygemm_set_math_mode(handle, *settings.math));
  if (settings.invariance) check(mygemm_set_invariance(handle, *settings.invariance));
}

Session Session::for_questions(Settings settings) {
  settings.backend = MYGEMM_BACKEND_HOST;
  return Session(settings);
}

Memory Session::memory() const {
  mygemmBackend_t backend;
  check(mygemm_get_backend(handle(), &backend));
  return backend == MYGEMM_BACKEND_CUDA ? Memory::kDevice : Memory::kHost;
}

std::string line_of(const std::string& explanation, const std::string& key) {
  const size_t start = explanation.find(key);
  if (start == std::string::npos) return {};
  const size_t end = explanation.find('\n', start);
  const size_t content = start + key.size();
  return explanation.substr(content, end == std::string::npos ? end : end - content);
}

}  // namespace mygemm::cli
