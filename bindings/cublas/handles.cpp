// The table of settings of cuBLAS's handles, and each thread's own handles of mygemm.
#include "handles.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "device.h"
#include "real_cublas.h"

namespace mygemm::cublas {
namespace {

struct Table {
  std::shared_mutex lock;
  std::unordered_map<cublasHandle_t, Told> handles;
};

// Never destroyed: other libraries' destructors may still use cuBLAS.
Table& table() {
  static Table& only = *new Table;
  return only;
}

// Plain storage, so that a call from another library's destructor finds it after this thread's
// cleaner has emptied it.
constinit thread_local std::array<mygemmHandle_t, kMaxDevices> handles_of_thread{};

struct Cleaner {
  ~Cleaner() {
    for (mygemmHandle_t& handle : handles_of_thread) {
      mygemm_destroy(handle);
      handle = nullptr;
    }
  }
};

mygemmHandle_t make_handle(int device) {
  static std::array<std::atomic<bool>, kMaxDevices> unusable{};
  if (unusable[device]) return nullptr;
  mygemmConfig_t config = MYGEMM_CONFIG_INIT;
  config.backend = MYGEMM_BACKEND_CUDA;
  config.device = device;
  config.workspace_bytes = 0;  // every call is given one
  mygemmHandle_t handle = nullptr;
  const mygemmStatus_t status = mygemm_create_with_config(&handle, &config);
  if (status != MYGEMM_STATUS_SUCCESS) {
    const bool told = unusable[device].exchange(true);
    // The absence of a GPU, or of one that this build has code for, is no error.
    if (!told && status != MYGEMM_STATUS_NOT_INITIALIZED && status != MYGEMM_STATUS_ARCH_MISMATCH) {
      std::fprintf(stderr, "mygemm: everything is forwarded to cuBLAS: %s\n", mygemm_last_error());
    }
    return nullptr;
  }
  thread_local const Cleaner cleaner;
  return handle;
}

}  // namespace

void tell_device(cublasHandle_t handle, int device) {
  const std::lock_guard guard(table().lock);
  table().handles[handle] = {device, nullptr, 0};
}

void tell_workspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  const std::lock_guard guard(table().lock);
  Told& known = table().handles[handle];
  known.workspace = workspace;
  known.workspace_bytes = workspace ? bytes : 0;
}

void forget(cublasHandle_t handle) {
  const std::lock_guard guard(table().lock);
  table().handles.erase(handle);
}

Told told(cublasHandle_t handle) {
  const std::shared_lock guard(table().lock);
  const auto found = table().handles.find(handle);
  return found == table().handles.end() ? Told{} : found->second;
}

bool read_settings(cublasHandle_t handle, Settings* settings) {
  if (forward(kGetStream, handle, &settings->stream) != CUBLAS_STATUS_SUCCESS ||
      forward(kGetPointerMode, handle, &settings->pointer_mode) != CUBLAS_STATUS_SUCCESS ||
      forward(kGetMathMode, handle, &settings->math) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  if (!find_real(kGetSmCountTarget)) return true;  // early versions of cuBLAS 11 have no limit
  return forward(kGetSmCountTarget, handle, &settings->sm_count_target) == CUBLAS_STATUS_SUCCESS;
}

mygemmHandle_t thread_handle(int device) {
  mygemmHandle_t& handle = handles_of_thread[device];
  if (!handle) handle = make_handle(device);
  return handle;
}

}  // namespace mygemm::cublas
