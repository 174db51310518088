// Emulator of the CUDA runtime: limits of launches. See launch.h.
#include "launch.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "device.h"

namespace emulator {
namespace {

constexpr unsigned kPortableClusterBlocks = 8;
constexpr unsigned kMostClusterBlocks = 16;

struct KernelAttributes {
  int shared_limit = kSharedPerBlockDefault;  // more than that only where the kernel asked for it
  bool nonportable_clusters = false;
};

std::map<const void*, KernelAttributes> attributes_of;

unsigned largest_cluster_with_room() {
  const char* text = std::getenv("MYGEMM_EMULATED_CLUSTER");
  return text ? static_cast<unsigned>(std::atoi(text)) : kMostClusterBlocks;
}

// Clusters lie along x, whose blocks are `blocks`.
cudaError_t read_cluster(const cudaLaunchAttributeValue& value, unsigned blocks, bool nonportable,
                         Grid* grid) {
  const auto& cluster = value.clusterDim;
  const unsigned most = nonportable ? kMostClusterBlocks : kPortableClusterBlocks;
  if (device().cc < 90 || cluster.x == 0 || cluster.y == 0 || cluster.z == 0 || cluster.x > most ||
      blocks % cluster.x != 0) {
    return cudaErrorInvalidClusterSize;
  }
  if (cluster.y != 1 || cluster.z != 1) return cudaErrorNotSupported;
  grid->clustered = true;
  grid->cluster_blocks = cluster.x;
  return cudaSuccess;
}

}  // namespace

cudaError_t set_kernel_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  KernelAttributes& attributes = attributes_of[kernel];
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || value > device().shared_per_block) return cudaErrorInvalidValue;
      attributes.shared_limit = std::max(value, kSharedPerBlockDefault);
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      attributes.nonportable_clusters = value != 0;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout: return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

int shared_limit(const void* kernel) { return attributes_of[kernel].shared_limit; }

cudaError_t read_launch(const cudaLaunchConfig_t& config, const void* kernel, Grid* grid) {
  const dim3& blocks = config.gridDim;
  const dim3& block = config.blockDim;
  const auto threads = static_cast<unsigned long long>(block.x) * block.y * block.z;
  if (threads == 0 || threads > kThreadsPerBlock || block.z > 64) {
    return cudaErrorInvalidConfiguration;
  }
  if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0 || blocks.x > 0x7FFFFFFF ||
      blocks.y > 0xFFFF || blocks.z > 0xFFFF) {
    return cudaErrorInvalidConfiguration;
  }
  if (config.dynamicSmemBytes > static_cast<size_t>(shared_limit(kernel))) {
    return cudaErrorInvalidValue;
  }
  *grid = {blocks, block, config.dynamicSmemBytes, false, 1, false, {}};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    cudaError_t error = cudaErrorNotSupported;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      error =
          read_cluster(attribute.val, blocks.x, attributes_of[kernel].nonportable_clusters, grid);
    } else if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      // With or without the attribute, a grid begins when the one before it has ended.
      grid->may_overlap = attribute.val.programmaticStreamSerializationAllowed != 0;
      error = device().cc >= 90 ? cudaSuccess : cudaErrorNotSupported;
    }
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

int blocks_per_sm(int threads, size_t shared_bytes) {
  const int shared = static_cast<int>(shared_bytes) + kSharedReservedPerBlock;
  return std::min(
      {device().blocks_per_sm, device().threads_per_sm / threads, device().shared_per_sm / shared});
}

unsigned blocks_granted(unsigned asked_for, unsigned cluster_blocks) {
  const char* text = std::getenv("MYGEMM_EMULATED_BLOCKS");
  if (!text) return asked_for;
  const unsigned clusters =
      (static_cast<unsigned>(std::atoi(text)) + cluster_blocks - 1) / cluster_blocks;
  return std::min(asked_for, clusters * cluster_blocks);
}

// A GPU fits fewer, since the multiprocessors of a cluster are neighbours. A grid that is granted
// few blocks runs on a device that fits few.
int active_clusters(const Grid& grid) {
  if (grid.cluster_blocks > largest_cluster_with_room()) return 0;
  const auto threads = static_cast<int>(grid.threads.x * grid.threads.y * grid.threads.z);
  const int blocks = device().num_sms * blocks_per_sm(threads, grid.shared_bytes);
  return static_cast<int>(blocks_granted(static_cast<unsigned>(blocks), grid.cluster_blocks) /
                          grid.cluster_blocks);
}

}  // namespace emulator
