// See host_handle.h.
#include "host_handle.h"

#include <atomic>
#include <cstdio>

namespace mygemm::blas {
namespace {

// A plain pointer, which has no destructor: it can be read until the thread ends.
thread_local mygemmHandle_t handle = nullptr;

struct DestroyAtEndOfThread {
  ~DestroyAtEndOfThread() {
    mygemm_destroy(handle);
    handle = nullptr;
  }
};

void complain_once() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  std::fprintf(stderr, "mygemm: %s; BLAS calls are computed by slow loops\n", mygemm_last_error());
}

}  // namespace

mygemmHandle_t host_handle() {
  if (handle != nullptr) return handle;
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = MYGEMM_BACKEND_HOST;
  if (mygemm_create_with_config(&handle, &config) != MYGEMM_STATUS_SUCCESS) {
    complain_once();
    handle = nullptr;
    return nullptr;
  }
  static thread_local DestroyAtEndOfThread at_end;
  static_cast<void>(at_end);
  return handle;
}

}  // namespace mygemm::blas
