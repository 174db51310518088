// Support for the emulator's own tests: typed device arrays, short launches, a clean start.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    EXPECT_EQ(cudaMalloc(&data_, bytes_), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  explicit DeviceArray(size_t size) : DeviceArray(std::vector<T>(size)) {}
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> result(bytes_ / sizeof(T));
    EXPECT_EQ(cudaMemcpy(result.data(), data_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
    return result;
  }

 private:
  T* data_ = nullptr;
  size_t bytes_;
};

template <class... Parameters, class... Arguments>
cudaError_t launch(unsigned blocks, unsigned threads, size_t shared_bytes,
                   void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

inline cudaLaunchAttribute cluster_of(dim3 blocks) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks.x, blocks.y, blocks.z};
  return attribute;
}

template <class... Parameters, class... Arguments>
cudaError_t launch_clusters(dim3 cluster, unsigned blocks, unsigned threads, size_t shared_bytes,
                            void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute = cluster_of(cluster);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Leaves no error and no setting behind.
class EmulatorTest : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("MYGEMM_EMULATED_SEED");
    unsetenv("MYGEMM_EMULATED_BLOCKS");
    unsetenv("MYGEMM_EMULATED_CLUSTER");
    cudaDeviceReset();
  }
};
using EmulatorDeathTest = EmulatorTest;
