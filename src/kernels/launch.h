// The one way kernels are launched. Host code of .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/kernel.h"

namespace mygemm {

// Blocks of a one-dimensional grid: all `work` items where a grid can have that many, else the
// largest grid, whose kernels then loop.
inline unsigned grid_size(int64_t work) {
  return static_cast<unsigned>(std::min<int64_t>(work, 2147483647));
}

// A one-dimensional grid; fields of 0 or false ask for nothing.
struct LaunchShape {
  unsigned blocks = 1;
  int threads = 32;
  size_t shared_bytes = 0;  // dynamic
  int cluster_blocks = 0;   // SM 90
  // SM 90: may begin before the grid before it has ended; see ptx/grid.cuh.
  bool may_overlap = false;
};

// Launches kernel(arguments...). Shared memory past 48 KB is opted in to up to the device's limit,
// always the same figure: a smaller one set by a concurrent launch would make a larger launch fail.
template <class... Parameters>
Status launch(const LaunchContext& context, void (*kernel)(Parameters...), const LaunchShape& shape,
              Parameters... arguments) {
  constexpr size_t kWithoutOptIn = 48 * 1024;
  if (shape.shared_bytes > kWithoutOptIn) {
    CUDA_TRY(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  context.device->shared_per_block));
  }
  if (shape.cluster_blocks > kPortableCluster) {
    CUDA_TRY(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                  cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = context.stream;
  config.attrs = attributes;
  if (shape.cluster_blocks > 0) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned>(shape.cluster_blocks);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  }
  if (shape.may_overlap && context.device->cc >= 90) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  CUDA_TRY(cudaLaunchKernelEx(&config, kernel, arguments...));
  return MYGEMM_STATUS_SUCCESS;
}

// The grid of a Config.
inline LaunchShape shape_of(const LaunchConfig& config) {
  LaunchShape shape;
  shape.blocks = static_cast<unsigned>(config.blocks);
  shape.threads = config.threads;
  shape.shared_bytes = config.shared_bytes;
  shape.cluster_blocks = config.cluster_blocks;
  shape.may_overlap = config.may_overlap;
  return shape;
}

template <class... Parameters>
Status launch(const LaunchContext& context, void (*kernel)(Parameters...),
              const LaunchConfig& config, Parameters... arguments) {
  return launch(context, kernel, shape_of(config), arguments...);
}

template <class... Parameters>
Status launch(const LaunchContext& context, void (*kernel)(Parameters...), unsigned blocks,
              int threads, size_t shared_bytes, Parameters... arguments) {
  LaunchShape shape;
  shape.blocks = blocks;
  shape.threads = threads;
  shape.shared_bytes = shared_bytes;
  return launch(context, kernel, shape, arguments...);
}

}  // namespace mygemm
