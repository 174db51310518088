// The one way kernels are launched. Host code of .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "plan/plan.h"

namespace mygemm {

// Blocks of a one-dimensional grid: all `work` items where a grid can have that many, else the
// largest grid, whose kernels then loop.
inline unsigned grid_size(int64_t work) {
  return static_cast<unsigned>(std::min<int64_t>(work, 2147483647));
}

// Launches kernel(arguments...) on a one-dimensional grid with `shared_bytes` of dynamic shared
// memory. Shared memory past 48 KB is opted in to up to the device's limit, always the same
// figure: a smaller one set by a concurrent launch would make a larger launch fail.
template <class... Parameters>
Status launch(const LaunchContext& context, void (*kernel)(Parameters...), unsigned blocks,
              int threads, size_t shared_bytes, Parameters... arguments) {
  constexpr size_t kWithoutOptIn = 48 * 1024;
  if (shared_bytes > kWithoutOptIn) {
    CUDA_TRY(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  context.device->shared_per_block));
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = context.stream;
  CUDA_TRY(cudaLaunchKernelEx(&config, kernel, arguments...));
  return MYGEMM_STATUS_SUCCESS;
}

}  // namespace mygemm
