// Tests the emulator's launches of clusters: refusals, and the number of clusters that fit.
#include "device.h"
#include "emulator_fixture.h"
#include "ptx/grid.cuh"

namespace {

class ClusterLaunchTest : public EmulatorTest {
 protected:
  void SetUp() override {
    if (emulator::device().cc < 90) GTEST_SKIP() << "the emulated device has no clusters";
  }
};

__global__ void do_nothing() {}
__global__ void do_as_little() {}

cudaError_t status(dim3 cluster, unsigned blocks) {
  return launch_clusters(cluster, blocks, 1, 0, do_nothing);
}

TEST_F(ClusterLaunchTest, LimitsAreCudas) {
  EXPECT_EQ(status(8, 16), cudaSuccess);
  EXPECT_EQ(status(0, 16), cudaErrorInvalidClusterSize);
  EXPECT_EQ(status(dim3(2, 0), 16), cudaErrorInvalidClusterSize);
  EXPECT_EQ(status(4, 18), cudaErrorInvalidClusterSize);
  EXPECT_EQ(status(dim3(2, 2), 16), cudaErrorNotSupported);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidClusterSize), "cudaErrorInvalidClusterSize");
}

TEST_F(ClusterLaunchTest, LargeClustersAreAskedForByKernel) {
  constexpr auto kNonPortable = cudaFuncAttributeNonPortableClusterSizeAllowed;
  EXPECT_EQ(status(16, 32), cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaFuncSetAttribute(do_as_little, kNonPortable, 1), cudaSuccess);
  EXPECT_EQ(status(16, 32), cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaFuncSetAttribute(do_nothing, kNonPortable, 1), cudaSuccess);
  EXPECT_EQ(status(16, 32), cudaSuccess);
  EXPECT_EQ(status(17, 34), cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaFuncSetAttribute(do_nothing, kNonPortable, 0), cudaSuccess);
  EXPECT_EQ(status(9, 18), cudaErrorInvalidClusterSize);
}

__global__ void wait_for_grid() { mygemm::ptx::wait_for_previous_grid(); }

// Launches one block of one thread.
cudaError_t launch_with(cudaLaunchAttributeID id, void (*kernel)() = wait_for_grid) {
  cudaLaunchAttribute attribute{};
  attribute.id = id;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel);
}

TEST_F(ClusterLaunchTest, AttributesAreTheOnesThatAreKnown) {
  EXPECT_EQ(launch_with(cudaLaunchAttributeProgrammaticStreamSerialization), cudaSuccess);
  constexpr auto kCooperative = static_cast<cudaLaunchAttributeID>(2);
  EXPECT_EQ(launch_with(kCooperative), cudaErrorNotSupported);
}

__global__ void copy_too_early() {
  const float from = 1;
  float to = 0;
  emulator::start_copy(&to, &from, sizeof from);
  mygemm::ptx::wait_for_previous_grid();
}

TEST_F(ClusterLaunchTest, BlocksThatMayOverlapMustWait) {
  EXPECT_DEATH(launch_with(cudaLaunchAttributeProgrammaticStreamSerialization, do_nothing),
               "without griddepcontrol.wait");
  EXPECT_DEATH(launch_with(cudaLaunchAttributeProgrammaticStreamSerialization, copy_too_early),
               "cp.async before griddepcontrol.wait");
}

TEST_F(EmulatorTest, OlderDevicesKnowNeitherAttribute) {
  if (emulator::device().cc >= 90) GTEST_SKIP() << "the emulated device has clusters";
  EXPECT_EQ(status(1, 1), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_with(cudaLaunchAttributeProgrammaticStreamSerialization), cudaErrorNotSupported);
  const cudaLaunchConfig_t config{};
  int clusters = -1;
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, do_nothing, &config),
            cudaErrorInvalidClusterSize);
}

// Clusters of blocks of 1024 threads that fit; less than 0 where the query is refused.
int clusters_of(unsigned blocks) {
  cudaLaunchAttribute attribute = cluster_of(blocks);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(1024);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = -1;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, do_nothing, &config);
  EXPECT_EQ(error, clusters < 0 ? cudaErrorInvalidClusterSize : cudaSuccess);
  return clusters;
}

TEST_F(ClusterLaunchTest, OccupancyFollowsTheLargestCluster) {
  const int blocks = emulator::device().num_sms * (emulator::device().threads_per_sm / 1024);
  for (const int size : {1, 2, 4, 8}) {
    EXPECT_EQ(clusters_of(static_cast<unsigned>(size)), blocks / size);
  }
  EXPECT_LT(clusters_of(16), 0);

  setenv("MYGEMM_EMULATED_CLUSTER", "2", 1);
  EXPECT_EQ(clusters_of(2), blocks / 2);
  EXPECT_EQ(clusters_of(4), 0);
  EXPECT_EQ(status(2, 4), cudaSuccess);
  EXPECT_EQ(status(4, 4), cudaErrorInvalidClusterSize);
}

}  // namespace
