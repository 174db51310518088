// A handle of libmygemm as a C++ object, see session.h.
#include "session.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "error.h"

namespace mygemm::cli {
namespace {

// Without cudart this command cannot allocate device memory for a CUDA handle.
mygemmBackend_t usable_backend() {
  if (has_device_memory()) return MYGEMM_BACKEND_AUTO;
  const char* wanted = std::getenv("MYGEMM_BACKEND");
  if (wanted != nullptr && std::string_view(wanted) == "cuda") {
    throw Error("MYGEMM_BACKEND = cuda, but this mygemm command was built without CUDA");
  }
  return MYGEMM_BACKEND_HOST;
}

}  // namespace

void check(mygemmStatus_t status) {
  if (status == MYGEMM_STATUS_SUCCESS) return;
  const std::string_view sentence = mygemm_last_error();
  throw Error(sentence.empty() ? mygemm_status_string(status) : sentence);
}

Session::Session() : Session(usable_backend()) {}

Session Session::for_questions() { return Session(MYGEMM_BACKEND_HOST); }

Session::Session(mygemmBackend_t backend) {
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = backend;
  mygemmHandle_t handle = nullptr;
  check(mygemm_create_with_config(&handle, &config));
  handle_.reset(handle);
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

Buffer transposed(const Session& session, size_t element_size, int64_t rows, int64_t cols,
                  const Buffer& in) {
  Buffer out(session.memory(), in.size());
  check(mygemm_transpose(session.handle(), element_size, rows, cols, in.data(),
                         std::max<int64_t>(1, cols), out.data(), std::max<int64_t>(1, rows)));
  return out;
}

}  // namespace mygemm::cli
