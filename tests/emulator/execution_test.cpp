// Tests the emulator's execution of grids: correct kernels give correct results, and every kind of
// mistake that the emulator detects is reported. The kernels are small and of this file only.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "emulator_fixture.h"
#include "ptx/barrier.cuh"
#include "ptx/cp_async.cuh"
#include "ptx/grid.cuh"
#include "ptx/math.cuh"
#include "ptx/shared.cuh"
#include "ptx/warp.cuh"

namespace {

constexpr unsigned kThreads = 128;

std::vector<int> iota(int size) {
  std::vector<int> values(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) values[static_cast<size_t>(i)] = i;
  return values;
}

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

// Warps ask each other, one turn after another, whether it is the turn of one of them.
__global__ void ask_by_turns(int* found) {
  constexpr int kWarps = kThreads / 32, kTurns = 2 * kWarps;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int turn = 0; turn < kTurns; ++turn) {
    const bool own = turn % 2 == 0 && turn / 2 == warp;
    if (mygemm::ptx::any_at_barrier(1, kThreads, own)) found[threadIdx.x] |= 1 << turn;
  }
}

TEST_F(EmulatorTest, NamedBarrierTellsAllWarpsWhetherOneSaidYes) {
  for (const char* seed : {"1", "2", "3", "4"}) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const DeviceArray<int> found(std::vector<int>(kThreads, 0));
    ASSERT_EQ(launch(1, kThreads, 0, ask_by_turns, found.data()), cudaSuccess);
    EXPECT_EQ(found.values(), std::vector<int>(kThreads, 0x55)) << "seed " << seed;
  }
}

__global__ void a_warp_misses_its_barrier() {
  if (threadIdx.x < 32) mygemm::ptx::meet_at_barrier(2, 64);
}

TEST_F(EmulatorTest, NamedBarrierThatAWarpMissesIsReported) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 64, 0, a_warp_misses_its_barrier), cudaErrorLaunchFailure);
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("threads 0 to 31: each waits at named barrier 2"), std::string::npos)
      << report;
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
  EXPECT_NE(report.find("execution_test.cpp"), std::string::npos);
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
  int any, all, largest, warp;
  bool elected;
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
  result.largest = __reduce_max_sync(~0u, -lane * lane - 7);
  result.warp = mygemm::ptx::warp_number();
  result.elected = mygemm::ptx::elect_one();
}

TEST_F(EmulatorTest, WarpFunctionsFollowTheirSegments) {
  const DeviceArray<LaneResults> out(32);
  ASSERT_EQ(launch(1, 32, 0, warp_functions, out.data()), cudaSuccess);
  const std::vector<LaneResults> results = out.values();
  EXPECT_EQ(std::count_if(results.begin(), results.end(),
                          [](const LaneResults& result) { return result.elected; }),
            1);
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
    EXPECT_EQ(result.largest, -7);
    EXPECT_EQ(result.warp, 0);
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
  ASSERT_EQ(launch(1, 1, 2 * sizeof(int4), copy_in_two_groups, in.data(), out.data()), cudaSuccess);
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

// ---- arithmetic ----

__global__ void raise(const float* in, float* out) {
  mygemm::ptx::wait_for_previous_grid();
  out[threadIdx.x] = mygemm::ptx::exp2_approx(in[threadIdx.x]);
  mygemm::ptx::launch_dependents();
}

TEST_F(EmulatorTest, PowersBelowTheSmallestNormalAreZero) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const DeviceArray<float> in(
      std::vector<float>{0, 1, -1, 127, -126, -126.5f, -149, 1e-40f, -kInfinity, kInfinity, NAN});
  const DeviceArray<float> out(11);
  ASSERT_EQ(launch(1, 11, 0, raise, in.data(), out.data()), cudaSuccess);
  std::vector<float> powers = out.values();
  EXPECT_TRUE(std::isnan(powers.back()));
  powers.pop_back();
  EXPECT_EQ(powers, (std::vector<float>{1, 2, 0.5f, 0x1p127f, 0x1p-126f, 0, 0, 1, 0, kInfinity}));
}

__global__ void count_up(unsigned* tickets, unsigned long long* sum) {
  const unsigned ticket = atomicAdd(tickets, 1u);
  atomicAdd(sum, 1ull << ticket);
}

TEST_F(EmulatorTest, EveryThreadDrawsATicketOfItsOwn) {
  const DeviceArray<unsigned> tickets(1);
  const DeviceArray<unsigned long long> sum(1);
  ASSERT_EQ(launch(2, 32, 0, count_up, tickets.data(), sum.data()), cudaSuccess);
  EXPECT_EQ(tickets.values()[0], 64u);
  EXPECT_EQ(sum.values()[0], ~0ull);
}

// ---- shared memory ----

__global__ void store_address(uintptr_t* out) {
  struct alignas(1024) Aligned {
    char bytes[1024];
  };
  *out = reinterpret_cast<uintptr_t>(&mygemm::shared_storage<Aligned>());
}

TEST_F(EmulatorTest, SharedMemoryIsAlignedForTheSwizzle) {
  const DeviceArray<uintptr_t> out(1);
  ASSERT_EQ(launch(1, 1, 1024, store_address, out.data()), cudaSuccess);
  EXPECT_EQ(out.values()[0] % 1024, 0u);
}

}  // namespace
