// Proves the emulator itself: right kernels give right answers, and each kind of mistake that it is
// there to find is found. The kernels here are small and of this file only.
#include <cuda_runtime.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device.h"
#include "ptx/cp_async.cuh"
#include "ptx/shared.cuh"
#include "sanitizer.h"

namespace {

constexpr unsigned kThreads = 128;

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

std::vector<int> iota(int size) {
  std::vector<int> values(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) values[static_cast<size_t>(i)] = i;
  return values;
}

class EmulatorTest : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("MYGEMM_EMULATED_SEED");
    cudaDeviceReset();
  }
};
using EmulatorDeathTest = EmulatorTest;

// ---- barriers ----

struct Partials {
  int sums[kThreads];
};

template <bool kWithBarriers>
__global__ void __launch_bounds__(kThreads) sum_blocks(const int* in, int* out) {
  Partials& shared = mygemm::shared_storage<Partials>();
  shared.sums[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (kWithBarriers) __syncthreads();
    if (threadIdx.x < half) shared.sums[threadIdx.x] += shared.sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = shared.sums[0];
}

std::vector<int> block_sums(void (*kernel)(const int*, int*)) {
  constexpr unsigned kBlocks = 5;
  const DeviceArray<int> in(iota(kBlocks * kThreads));
  const DeviceArray<int> out(kBlocks);
  EXPECT_EQ(launch(kBlocks, kThreads, sizeof(Partials), kernel, in.data(), out.data()),
            cudaSuccess);
  return out.values();
}

TEST_F(EmulatorTest, ReductionWithBarriersIsRightInAnyOrder) {
  const std::vector<int> expected = {8128, 24512, 40896, 57280, 73664};
  for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    EXPECT_EQ(block_sums(sum_blocks<true>), expected) << "seed " << seed;
  }
}

TEST_F(EmulatorTest, ReductionWithoutBarriersIsWrong) {
  EXPECT_NE(block_sums(sum_blocks<false>), block_sums(sum_blocks<true>));
}

// Warp 0 publishes two values one after another, and all read the first one.
template <bool kWithBarrier>
__global__ void publish_twice(int* out) {
  int& shared = mygemm::shared_storage<int>();
  if (threadIdx.x == 0) shared = 1;
  __syncthreads();
  out[threadIdx.x] = shared;
  __syncwarp();
  if (kWithBarrier) __syncthreads();
  if (threadIdx.x == 0) shared = 2;
}

TEST_F(EmulatorTest, WarpThatRunsAheadIsNoticed) {
  const std::vector<int> expected(kThreads, 1);
  bool seen = false;
  for (const char* seed : {"1", "2", "3", "4"}) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const DeviceArray<int> out(kThreads);
    ASSERT_EQ(launch(1, kThreads, sizeof(int), publish_twice<false>, out.data()), cudaSuccess);
    seen = seen || out.values() != expected;
    ASSERT_EQ(launch(1, kThreads, sizeof(int), publish_twice<true>, out.data()), cudaSuccess);
    EXPECT_EQ(out.values(), expected);
  }
  EXPECT_TRUE(seen);
}

__global__ void half_the_block_waits() {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
}

__global__ void two_barriers_meet() {
  if (threadIdx.x < blockDim.x / 2) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void lane_misses_shuffle(int* out) {
  if (threadIdx.x == 7) return;
  out[threadIdx.x] = __shfl_xor_sync(~0u, 1, 1);
}

TEST_F(EmulatorTest, DivergentBarrierFailsTheLaunchAndSaysWhere) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 64, 0, half_the_block_waits), cudaErrorLaunchFailure);
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("threads 0 to 31: each waits at __syncthreads"), std::string::npos);
  EXPECT_NE(report.find("emulator_test.cpp"), std::string::npos);
  EXPECT_NE(report.find("threads 32 to 63: each has exited"), std::string::npos);
}

TEST_F(EmulatorTest, FailureSticksUntilReset) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 64, 0, two_barriers_meet), cudaErrorLaunchFailure);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  cudaDeviceReset();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(block_sums(sum_blocks<true>)[0], 8128);
}

TEST_F(EmulatorTest, ShuffleThatALaneMissesFailsTheLaunch) {
  const DeviceArray<int> out(32);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 32, 0, lane_misses_shuffle, out.data()), cudaErrorLaunchFailure);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("__shfl_xor_sync"), std::string::npos);
}

// ---- warps ----

__global__ void butterfly(double* out) {
  double sum = threadIdx.x;
  for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) {
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lane_mask);
  }
  out[threadIdx.x] = sum;
}

TEST_F(EmulatorTest, ButterflySumsEachWarp) {
  const DeviceArray<double> out(96);
  ASSERT_EQ(launch(1, 96, 0, butterfly, out.data()), cudaSuccess);
  const std::vector<double> sums = out.values();
  for (size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], 496 + 1024 * static_cast<double>(i / 32));
  }
}

struct LaneResults {
  int index, up, down, xor_narrow;
  unsigned ballot;
  int any, all;
};

__global__ void warp_functions(LaneResults* out) {
  const int lane = static_cast<int>(threadIdx.x);
  LaneResults& result = out[lane];
  result.index = __shfl_sync(~0u, lane, 3, 8);
  result.up = __shfl_up_sync(~0u, lane, 2, 8);
  result.down = __shfl_down_sync(~0u, lane, 2, 8);
  result.xor_narrow = __shfl_xor_sync(~0u, lane, 16, 8);
  result.ballot = __ballot_sync(~0u, lane % 3 == 0);
  result.any = __any_sync(~0u, lane == 5);
  result.all = __all_sync(~0u, lane != 5);
}

TEST_F(EmulatorTest, WarpFunctionsFollowTheirSegments) {
  const DeviceArray<LaneResults> out(32);
  ASSERT_EQ(launch(1, 32, 0, warp_functions, out.data()), cudaSuccess);
  const std::vector<LaneResults> results = out.values();
  for (int lane = 0; lane < 32; ++lane) {
    const LaneResults& result = results[static_cast<size_t>(lane)];
    const int in_segment = lane % 8;
    EXPECT_EQ(result.index, lane - in_segment + 3);
    EXPECT_EQ(result.up, in_segment < 2 ? lane : lane - 2);
    EXPECT_EQ(result.down, in_segment >= 6 ? lane : lane + 2);
    EXPECT_EQ(result.xor_narrow, lane < 16 ? lane : lane - 16);  // later segments are out of reach
    EXPECT_EQ(result.ballot, 0x49249249u);
    EXPECT_EQ(result.any, 1);
    EXPECT_EQ(result.all, 0);
  }
}

// ---- asynchronous copies ----

template <bool kWithWait>
__global__ void copy_asynchronously(const int* in, int* out) {
  Partials& shared = mygemm::shared_storage<Partials>();
  int* mine = &shared.sums[threadIdx.x];
  mygemm::ptx::cp_async_4(mine, in + threadIdx.x, true);
  mygemm::ptx::cp_async_commit();
  if (kWithWait) mygemm::ptx::cp_async_wait<0>();
  out[threadIdx.x] = *mine;
}

TEST_F(EmulatorTest, CopyIsThereAfterTheWaitOnly) {
  const DeviceArray<int> in(iota(kThreads));
  for (const bool with_wait : {true, false}) {
    const DeviceArray<int> out(kThreads);
    const auto kernel = with_wait ? copy_asynchronously<true> : copy_asynchronously<false>;
    ASSERT_EQ(launch(1, kThreads, sizeof(Partials), kernel, in.data(), out.data()), cudaSuccess);
    EXPECT_EQ(out.values() == in.values(), with_wait);
  }
}

__global__ void copy_in_two_groups(const int4* in, int4* out) {
  int4* shared = &mygemm::shared_storage<int4>();
  mygemm::ptx::cp_async_16(shared, in, true);
  mygemm::ptx::cp_async_commit();
  mygemm::ptx::cp_async_16(shared + 1, nullptr, false);
  mygemm::ptx::cp_async_commit();
  mygemm::ptx::cp_async_wait<1>();
  out[0] = shared[0];
  mygemm::ptx::cp_async_wait<0>();
  out[1] = shared[1];
}

TEST_F(EmulatorTest, GroupsCompleteInOrderAndInvalidSourcesBecomeZero) {
  const DeviceArray<int4> in(std::vector<int4>{{1, 2, 3, 4}});
  const DeviceArray<int4> out(2);
  ASSERT_EQ(launch(1, 1, 2 * sizeof(int4), copy_in_two_groups, in.data(), out.data()),
            cudaSuccess);
  EXPECT_EQ(out.values()[0].w, 4);
  EXPECT_EQ(out.values()[1].x, 0);
}

__global__ void copy_misaligned(const float* in) {
  mygemm::ptx::cp_async_16(&mygemm::shared_storage<int4>(), in + 1, true);
}

TEST_F(EmulatorDeathTest, MisalignedCopyIsCaught) {
  const DeviceArray<float> in(8);
  EXPECT_DEATH(launch(1, 1, 16, copy_misaligned, in.data()), "misaligned cp.async");
}

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
  EXPECT_EQ(cudaFree(data.data() + 1), cudaErrorInvalidValue);
}

// ---- launches ----

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
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, write_shared, threads,
                                                            shared_bytes),
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
  unsetenv("MYGEMM_EMULATED_BLOCKS");
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
