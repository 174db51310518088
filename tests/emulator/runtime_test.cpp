// Tests the emulator's host functions: device memory with its guards, launch limits, streams.
#include <algorithm>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "ptx/shared.cuh"
#include "sanitizer.h"

namespace {

// ---- memory ----

__global__ void write_element(int* data, int index) { data[index] = 1; }

TEST_F(EmulatorDeathTest, GlobalAccessBeyondAnAllocationIsCaught) {
  const DeviceArray<int> data(64);  // a multiple of 256 bytes: the guard page follows at once
  EXPECT_EQ(launch(1, 1, 0, write_element, data.data(), 63), cudaSuccess);
  EXPECT_DEATH(launch(1, 1, 0, write_element, data.data(), 64), "");
  EXPECT_DEATH(launch(1, 1, 0, write_element, data.data(), -1024), "");
}

TEST_F(EmulatorDeathTest, SanitizerKnowsTheExactBounds) {
  if (!emulator::kHasAsan) GTEST_SKIP() << "built without the address sanitizer";
  const DeviceArray<int> data(3);
  EXPECT_DEATH(launch(1, 1, 0, write_element, data.data(), 3), "use-after-poison");
  EXPECT_DEATH(launch(1, 1, 0, write_element, data.data(), -1), "use-after-poison");
}

TEST_F(EmulatorDeathTest, HostCannotFollowADevicePointer) {
  const DeviceArray<int> data(64);
  EXPECT_DEATH(*static_cast<volatile int*>(data.data()) = 1, "");
}

__global__ void write_shared(int index) { (&mygemm::shared_storage<char>())[index] = 1; }

TEST_F(EmulatorDeathTest, SharedAccessBeyondTheLaunchIsCaught) {
  if (!emulator::kHasAsan) GTEST_SKIP() << "built without the address sanitizer";
  EXPECT_EQ(launch(1, 1, 1001, write_shared, 1000), cudaSuccess);
  EXPECT_DEATH(launch(1, 1, 1001, write_shared, 1001), "heap-buffer-overflow");
}

__global__ void read_shared(int* out) { out[threadIdx.x] = mygemm::shared_storage<int>(); }

TEST_F(EmulatorTest, FreshMemoryIsAllOnes) {
  int* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, sizeof(int)), cudaSuccess);
  int value = 0;
  ASSERT_EQ(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, -1);
  ASSERT_EQ(launch(1, 1, sizeof(int), read_shared, data), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, -1);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(EmulatorTest, CopiesAreChecked) {
  const DeviceArray<int> data(4);
  int host[8] = {};
  EXPECT_EQ(cudaMemcpy(host, data.data(), 17, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, data.data(), 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(data.data() + 1, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(host, 0, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(data.data(), 0, 16), cudaSuccess);
  EXPECT_EQ(data.values(), std::vector<int>(4));
  EXPECT_EQ(cudaFree(data.data() + 1), cudaErrorInvalidValue);
}

// ---- launches ----

TEST_F(EmulatorTest, ColumnsAreCopiedToPinnedMemory) {
  const DeviceArray<int> data(6);  // 2 x 2 with a leading dimension of 3
  const int columns[] = {1, 2, 3, 4};
  int* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 4 * sizeof(int), cudaHostAllocDefault),
            cudaSuccess);
  const size_t width = 2 * sizeof(int);
  EXPECT_EQ(cudaMemcpy2DAsync(data.data(), 3 * sizeof(int), columns, width, width, 2,
                              cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DAsync(pinned, width, data.data(), 3 * sizeof(int), width, 2,
                              cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_TRUE(std::equal(columns, columns + 4, pinned));
  EXPECT_EQ(data.values(), (std::vector<int>{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(
      cudaMemcpy2DAsync(pinned, width - 1, data.data(), width, width, 1, cudaMemcpyDeviceToHost),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(EmulatorTest, PoolsGiveDeviceMemory) {
  cudaMemPoolProps properties{};
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  int* data = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&data), 4, pool, nullptr),
            cudaSuccess);
  EXPECT_EQ(launch(1, 1, 0, write_element, data, 0), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaSuccess);
}

TEST_F(EmulatorTest, LaunchLimitsAreCudas) {
  const auto status = [](dim3 blocks, dim3 threads, size_t shared_bytes) {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    return cudaLaunchKernelEx(&config, write_shared, 0);
  };
  EXPECT_EQ(status(1, 1024, 1), cudaSuccess);
  EXPECT_EQ(status(1, 1025, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(status(1, dim3(1, 1, 65), 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(status(0, 1, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(status(dim3(1, 65536), 1, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(status(1, 1, 48 << 10), cudaSuccess);
  EXPECT_EQ(status(1, 1, (48 << 10) + 1), cudaErrorInvalidValue);

  const int most = emulator::device().shared_per_block;
  constexpr auto kAttribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaFuncSetAttribute(write_shared, kAttribute, most + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(write_shared, kAttribute, most), cudaSuccess);
  EXPECT_EQ(status(1, 1, static_cast<size_t>(most)), cudaSuccess);
}

TEST_F(EmulatorTest, OccupancyFollowsThreadsAndSharedMemory) {
  const auto blocks_of = [](int threads, size_t shared_bytes) {
    int blocks = 0;
    EXPECT_EQ(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, write_shared, threads, shared_bytes),
        cudaSuccess);
    return blocks;
  };
  const emulator::Device& device = emulator::device();
  EXPECT_EQ(blocks_of(1024, 0), device.threads_per_sm / 1024);
  EXPECT_EQ(blocks_of(32, 0), device.blocks_per_sm);
  EXPECT_EQ(blocks_of(128, static_cast<size_t>(device.shared_per_sm / 2)), 1);
}

__global__ void count_blocks(int* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = static_cast<int>(gridDim.x);
}

TEST_F(EmulatorTest, GridsCanBeCutShort) {
  const DeviceArray<int> out(1);
  setenv("MYGEMM_EMULATED_BLOCKS", "3", 1);
  EXPECT_EQ(launch(7, 32, 0, count_blocks, out.data()), cudaSuccess);
  EXPECT_EQ(out.values()[0], 3);
}

TEST_F(EmulatorTest, StreamsTakeCopiesAndLaunches) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const DeviceArray<int> out(1);
  cudaLaunchConfig_t config{};
  config.stream = stream;
  EXPECT_EQ(cudaLaunchKernelEx(&config, count_blocks, out.data()), cudaSuccess);
  int blocks = 0;
  EXPECT_EQ(cudaMemcpyAsync(&blocks, out.data(), sizeof blocks, cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  unsigned long long id = 0, of_legacy = 0;
  EXPECT_EQ(cudaStreamGetId(stream, &id), cudaSuccess);
  EXPECT_EQ(cudaStreamGetId(nullptr, &of_legacy), cudaSuccess);
  EXPECT_NE(id, of_legacy);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  EXPECT_EQ(cudaStreamIsCapturing(stream, &capture), cudaSuccess);
  EXPECT_EQ(capture, cudaStreamCaptureStatusNone);
  EXPECT_EQ(blocks, 1);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

__global__ void record_coordinates(uint3* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] =
      make_uint3(threadIdx.x, threadIdx.y + 10 * blockIdx.y, threadIdx.z + 10 * blockIdx.x);
}

TEST_F(EmulatorTest, ThreadsKnowTheirCoordinates) {
  const DeviceArray<uint3> out(2 * 3 * 4 * 5 * 2);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2, 3);
  config.blockDim = dim3(4, 5, 2);
  ASSERT_EQ(cudaLaunchKernelEx(&config, record_coordinates, out.data()), cudaSuccess);
  const std::vector<uint3> coordinates = out.values();
  const uint3 last = coordinates.back();
  EXPECT_EQ(last.x, 3u);
  EXPECT_EQ(last.y, 24u);
  EXPECT_EQ(last.z, 11u);
  EXPECT_EQ(coordinates[4].x, 0u);
  EXPECT_EQ(coordinates[4].y, 1u);
}

}  // namespace
