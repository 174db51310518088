// The settings of cuBLAS's handles, and the handles of mygemm that compute in their place.
#pragma once

#include <cublas_api.h>
#include <mygemm/mygemm.h>

#include <cstddef>

namespace mygemm::cublas {

// Settings without a getter in cuBLAS, recorded by the watched functions; a handle whose creation
// none of them has seen has no device.
struct Told {
  int device = -1;
  void* workspace = nullptr;  // nullptr: cuBLAS's own
  size_t workspace_bytes = 0;
};

void tell_device(cublasHandle_t handle, int device);
void tell_workspace(cublasHandle_t handle, void* workspace, size_t bytes);
void forget(cublasHandle_t handle);
Told told(cublasHandle_t handle);

// Settings that cuBLAS has getters for.
struct Settings {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;  // 0: all
};

// False where cuBLAS does not accept the handle.
bool read_settings(cublasHandle_t handle, Settings* settings);

// This thread's mygemm handle for a device, made at its first use; nullptr where mygemm cannot use
// the device. A cuBLAS handle may serve several threads at once, a mygemm handle only one.
mygemmHandle_t thread_handle(int device);

}  // namespace mygemm::cublas
