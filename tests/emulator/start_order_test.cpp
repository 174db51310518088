// Tests the emulator's order of starts: blocks and clusters start in any order, few of them are
// resident at once, and a grid whose blocks wait for blocks that cannot start is a deadlock.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "ptx/cluster.cuh"
#include "ptx/global.cuh"
#include "ptx/shared.cuh"

namespace {

constexpr unsigned kBlocks = 12;
constexpr unsigned kThreads = 64;

class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    const char* old = std::getenv(name);
    was_set_ = old != nullptr;
    if (old) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (was_set_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool was_set_;
};

// The block's number: that of its index, or that of its start.
template <bool kDraws>
__device__ unsigned block_number(unsigned* counter) {
  if (!kDraws) return blockIdx.x;
  unsigned& number = mygemm::shared_storage<unsigned>();
  if (threadIdx.x == 0) number = atomicAdd(counter, 1u);
  __syncthreads();
  return number;
}

// Adds its number to the sum of the blocks before it.
template <bool kDraws>
__global__ void add_in_turn(unsigned* counter, unsigned* flags, unsigned* sums) {
  const unsigned number = block_number<kDraws>(counter);
  if (threadIdx.x == 0) {
    while (number > 0 && mygemm::ptx::load_acquire(&flags[number - 1]) == 0) {
    }
    sums[number] = number + (number > 0 ? sums[number - 1] : 0);
    mygemm::ptx::store_release(&flags[number], 1);
  }
}

using Sum = void (*)(unsigned*, unsigned*, unsigned*);

// Returns the status of the launch; the last sum goes to `sum`.
cudaError_t sum_of(Sum kernel, unsigned* sum) {
  const DeviceArray<unsigned> counter(1), flags(kBlocks), sums(kBlocks);
  const cudaError_t error = launch(kBlocks, kThreads, sizeof(unsigned), kernel, counter.data(),
                                   flags.data(), sums.data());
  if (error == cudaSuccess) *sum = sums.values().back();
  return error;
}

using StartOrderTest = EmulatorTest;
using StartOrderDeathTest = EmulatorTest;

TEST_F(StartOrderTest, WaitsForLowerNumbersEndWhereBlocksStartInOrder) {
  const Setting start("MYGEMM_EMULATED_START", "ascending");
  for (const char* resident : {"1", "2", "100"}) {
    const Setting at_once("MYGEMM_EMULATED_RESIDENT", resident);
    unsigned sum = 0;
    ASSERT_EQ(sum_of(add_in_turn<false>, &sum), cudaSuccess) << resident;
    EXPECT_EQ(sum, 66u);
  }
}

TEST_F(StartOrderTest, WaitsForLowerNumbersAreADeadlockWhereBlocksStartInAnyOrder) {
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    for (const char* resident : {"1", "2", "3"}) {
      const Setting start("MYGEMM_EMULATED_START", std::string("random:") + seed);
      const Setting at_once("MYGEMM_EMULATED_RESIDENT", resident);
      unsigned sum = 0;
      ::testing::internal::CaptureStderr();
      EXPECT_EQ(sum_of(add_in_turn<false>, &sum), cudaErrorLaunchFailure);
      const std::string report = ::testing::internal::GetCapturedStderr();
      EXPECT_NE(report.find(std::string("MYGEMM_EMULATED_START=random:") + seed +
                            " MYGEMM_EMULATED_RESIDENT=" + resident + ":"),
                std::string::npos)
          << report;
      EXPECT_NE(report.find("of 12 blocks have not started"), std::string::npos) << report;
      EXPECT_NE(report.find("waits for a flag that is 0, "), std::string::npos) << report;
      cudaDeviceReset();
    }
  }
}

TEST_F(StartOrderTest, WaitsForBlocksThatStartedBeforeEnd) {
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    for (const char* resident : {"1", "2", "3", "100"}) {
      const Setting start("MYGEMM_EMULATED_START", std::string("random:") + seed);
      const Setting at_once("MYGEMM_EMULATED_RESIDENT", resident);
      unsigned sum = 0;
      ASSERT_EQ(sum_of(add_in_turn<true>, &sum), cudaSuccess);
      EXPECT_EQ(sum, 66u);
    }
  }
}

__global__ void note_start(unsigned* counter, unsigned* indices) {
  indices[atomicAdd(counter, 1u)] = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

TEST_F(StartOrderTest, EveryBlockStartsOnce) {
  std::vector<unsigned> sorted(24);
  std::iota(sorted.begin(), sorted.end(), 0u);
  for (const char* setting : {"ascending", "random", "random:9"}) {
    const Setting start("MYGEMM_EMULATED_START", setting);
    const Setting at_once("MYGEMM_EMULATED_RESIDENT", "1");
    const DeviceArray<unsigned> counter(1), indices(24);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(4, 3, 2);
    config.blockDim = dim3(1);
    ASSERT_EQ(cudaLaunchKernelEx(&config, note_start, counter.data(), indices.data()), cudaSuccess);
    std::vector<unsigned> order = indices.values();
    EXPECT_EQ(order == sorted, std::string(setting) == "ascending");
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, sorted);
  }
}

// Blocks with even numbers wait for the next one.
__global__ void wait_for_next(unsigned* counter, unsigned* flags) {
  const unsigned number = atomicAdd(counter, 1u);
  mygemm::ptx::store_release(&flags[number], 1);
  if (number % 2 != 0) return;
  while (mygemm::ptx::load_acquire(&flags[number + 1]) == 0) {
  }
}

TEST_F(StartOrderTest, AsManyBlocksAreResidentAsTheSettingSays) {
  for (const bool two : {true, false}) {
    const Setting at_once("MYGEMM_EMULATED_RESIDENT", two ? "2" : "1");
    const DeviceArray<unsigned> counter(1), flags(kBlocks);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(launch(kBlocks, 1, 0, wait_for_next, counter.data(), flags.data()),
              two ? cudaSuccess : cudaErrorLaunchFailure);
    const std::string report = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(report.find("11 of 12 blocks have not started") == std::string::npos, two) << report;
  }
}

// Blocks of a cluster hand each other their cluster's number, and clusters wait for those before.
__global__ void meet_in_turn(unsigned* counter, unsigned* flags, unsigned* out) {
  unsigned& number = mygemm::shared_storage<unsigned>();
  unsigned* const first = out + mygemm::ptx::cluster_number() * mygemm::ptx::cluster_blocks();
  if (mygemm::ptx::cluster_rank() == 0 && threadIdx.x == 0) {
    number = atomicAdd(counter, 1u);
    for (unsigned i = 0; i < mygemm::ptx::cluster_blocks(); ++i) first[i] = number;
    while (number > 0 && mygemm::ptx::load_acquire(&flags[number - 1]) == 0) {
    }
  }
  mygemm::ptx::cluster_sync();
  if (threadIdx.x == 0) first[mygemm::ptx::cluster_rank()] += mygemm::ptx::cluster_rank() * 100;
  mygemm::ptx::cluster_sync();
  if (mygemm::ptx::cluster_rank() == 0 && threadIdx.x == 0) {
    mygemm::ptx::store_release(&flags[number], 1);
  }
}

TEST_F(StartOrderTest, ClustersStartWhole) {
  if (emulator::device().cc < 90) GTEST_SKIP() << "the emulated device has no clusters";
  constexpr unsigned kClusterBlocks = 4;
  for (const char* resident : {"1", "2", "3"}) {
    const Setting start("MYGEMM_EMULATED_START", "random:2");
    const Setting at_once("MYGEMM_EMULATED_RESIDENT", resident);
    const DeviceArray<unsigned> counter(1), flags(5), out(20);
    ASSERT_EQ(launch_clusters(kClusterBlocks, 20, kThreads, sizeof(unsigned), meet_in_turn,
                              counter.data(), flags.data(), out.data()),
              cudaSuccess);
    const std::vector<unsigned> values = out.values();
    std::vector<bool> seen(5);
    for (unsigned i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], values[i / kClusterBlocks * kClusterBlocks] + i % kClusterBlocks * 100);
      if (i % kClusterBlocks == 0) seen.at(values[i]) = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 5);
  }
}

TEST_F(StartOrderDeathTest, SettingsThatMeanNothingAreRefused) {
  const auto run = [] { launch(2, 1, 0, note_start, nullptr, nullptr); };
  for (const char* setting : {"", "descending", "random:", "random:x", "randomly"}) {
    const Setting start("MYGEMM_EMULATED_START", setting);
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(1), "MYGEMM_EMULATED_START") << setting;
  }
  for (const char* setting : {"", "0", "two"}) {
    const Setting at_once("MYGEMM_EMULATED_RESIDENT", setting);
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(1), "MYGEMM_EMULATED_RESIDENT") << setting;
  }
}

}  // namespace
