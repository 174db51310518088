// The watched functions of cuBLAS: always forwarded, and their settings are recorded.
#include "device.h"
#include "handles.h"
#include "real_cublas.h"

using namespace mygemm::cublas;

extern "C" {
#pragma GCC visibility push(default)

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  const cublasStatus_t status = forward(kCreate, handle);
  if (status == CUBLAS_STATUS_SUCCESS) tell_device(*handle, current_device());
  return status;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  forget(handle);  // before another thread can be given the same address
  return forward(kDestroy, handle);
}

// Setting a stream resets the workspace, also where it is the same stream.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  const cublasStatus_t status = forward(kSetStream, handle, stream);
  if (status == CUBLAS_STATUS_SUCCESS) tell_workspace(handle, nullptr, 0);
  return status;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  const cublasStatus_t status = forward(kSetWorkspace, handle, workspace, bytes);
  if (status == CUBLAS_STATUS_SUCCESS) tell_workspace(handle, workspace, bytes);
  return status;
}

#pragma GCC visibility pop
}  // extern "C"
