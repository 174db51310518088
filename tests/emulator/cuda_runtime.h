// Emulator of the CUDA runtime: found instead of CUDA's header of this name when the kernels'
// sources are compiled as C++. Qualifiers, device functions, runtime functions and launches.
// Environment: MYGEMM_EMULATED_CC chooses the device (device.h), MYGEMM_EMULATED_SEED the order of
// threads (execution.cpp), MYGEMM_EMULATED_BLOCKS cuts grids short and MYGEMM_EMULATED_CLUSTER
// limits clusters (launch.h).
#pragma once

#include <functional>
#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "vector_types.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __grid_constant__

namespace emulator {
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::function<void()>& bound_kernel);
}  // namespace emulator

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert((sizeof(Parameters) + ... + 0) <= 4096, "more than a launch can pass");
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  return emulator::launch(*config, reinterpret_cast<const void*>(kernel),
                          [&] { std::apply(kernel, values); });
}

// The functions that take a kernel's address take its pointer too.
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                 int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <class... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          void (*kernel)(Parameters...),
                                                          int threads, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}

template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void (*kernel)(Parameters...),
                                           const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(kernel), config);
}

// Device memory is the program's own.
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  *address = const_cast<void*>(static_cast<const void*>(&symbol));
  return cudaSuccess;
}

template <class T>
cudaError_t cudaMalloc(T** data, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(data), bytes);
}
