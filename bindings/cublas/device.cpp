// Stream-ordered memory from a pool for each device, which keeps its memory: the device's default
// pool returns it to the system at the next synchronisation.
#include "device.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace mygemm::cublas {
namespace {

struct Pool {
  std::once_flag once;
  cudaMemPool_t pool = nullptr;
};

cudaMemPool_t make_pool(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  if (cudaMemPoolCreate(&pool, &properties) != cudaSuccess) return nullptr;
  uint64_t kept = UINT64_MAX;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  return pool;
}

cudaMemPool_t pool_of(int device) {
  static std::array<Pool, kMaxDevices> pools;
  Pool& pool = pools[device];
  std::call_once(pool.once, [&] { pool.pool = make_pool(device); });
  return pool.pool;
}

}  // namespace

int current_device() {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMaxDevices) return -1;
  return device;
}

int compute_capability(int device) {
  if (device < 0) return 0;
  static std::array<std::atomic<int>, kMaxDevices> known{};
  int capability = known[device].load(std::memory_order_relaxed);
  int major = 0, minor = 0;
  if (capability == 0 &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess) {
    capability = 10 * major + minor;
    known[device].store(capability, std::memory_order_relaxed);
  }
  return capability;
}

StreamMemory::StreamMemory(int device, CUstream_st* stream, size_t bytes) : stream_(stream) {
  if (bytes == 0) return;
  cudaMemPool_t pool = pool_of(device);
  if (!pool || cudaMallocFromPoolAsync(&data_, bytes, pool, stream) != cudaSuccess) {
    data_ = nullptr;
    cudaGetLastError();  // clears our own error: the call goes on without a workspace
  }
}

StreamMemory::~StreamMemory() {
  if (data_) cudaFreeAsync(data_, stream_);
}

}  // namespace mygemm::cublas
