// Tests of the drop-in BLAS on the emulator: a GPU without memory, and failures of CUDA at every
// point of a product.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "blas/offload.h"
#include "device.h"
#include "host/host.h"
#include "memory.h"
#include "multiply_on.h"

namespace {
std::atomic<int> records_until_failure{-1};  // -1: never
std::atomic<int> failing_device{-1};         // -1: all
}  // namespace

// Replaces the emulator's function, which records nothing since its streams are empty.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  int device = 0;
  cudaGetDevice(&device);
  if (failing_device >= 0 && device != failing_device) return cudaSuccess;
  int left = records_until_failure;
  while (left > 0 && !records_until_failure.compare_exchange_weak(left, left - 1)) {
  }
  return left == 0 ? cudaErrorLaunchFailure : cudaSuccess;
}

namespace mygemm::blas {
namespace {

constexpr PipelineLimits kRoomy{{1'000'000, 8, 4}, 4096, 1 << 20};

TEST(BlasPipelineFailure, GivesUpWhereMemoryIsTooSmallAndStaysUsable) {
  Gpu gpu(0, {{1'500, 8, 4}, 100, 0});
  OwnedProduct large(false, false, 70, 90, 50, 1);
  EXPECT_FALSE(multiply_on(large, &gpu));
  EXPECT_TRUE(large.unchanged());
  EXPECT_FALSE(gpu.is_lost());
  OwnedProduct small(false, false, 8, 8, 8, 1);
  EXPECT_TRUE(multiply_on(small, &gpu));
  EXPECT_EQ(small.wrong(), 0);
}

TEST(BlasPipelineFailure, TakesSmallerTilesWhereDeviceMemoryIsTaken) {
  Gpu gpu(0, kRoomy);
  OwnedProduct product(false, false, 70, 90, 50, 1);  // 71 KiB uncut
  emulator::largest_allocation = 40'000;
  EXPECT_TRUE(multiply_on(product, &gpu));
  emulator::largest_allocation = 1'000;
  OwnedProduct another(false, false, 90, 70, 50, 1);
  EXPECT_FALSE(multiply_on(another, &gpu));
  EXPECT_TRUE(another.unchanged());
  emulator::largest_allocation = SIZE_MAX;
  EXPECT_TRUE(multiply_on(another, &gpu));
  EXPECT_EQ(product.wrong(), 0);
  EXPECT_EQ(another.wrong(), 0);
}

// After any failure, C is either unchanged or complete.
TEST(BlasPipelineFailure, LeavesTheRestToTheHostWhereCudaFails) {
  int untouched = 0;
  int finished_by_host = 0;
  for (int records = 0;; ++records) {
    Gpu gpu(0, {{5'000, 8, 4}, 300, 0});
    OwnedProduct product(false, true, 40, 48, 24, 0.5f);
    records_until_failure = records;
    const bool done = multiply_on(product, &gpu);
    const bool failed = records_until_failure == 0 && gpu.is_lost();
    records_until_failure = -1;
    EXPECT_EQ(done ? product.wrong() : 0, 0) << records;
    EXPECT_TRUE(done || product.unchanged()) << records;
    EXPECT_EQ(gpu.is_lost(), failed);
    if (!failed) break;
    ++(done ? finished_by_host : untouched);
  }
  EXPECT_GT(untouched, 3);
  EXPECT_GT(finished_by_host, 50);
}

// A worker is lost at any point of its share: the others, or the host, compute the rest.
TEST(BlasPipelineFailure, OtherGpusTakeTheTilesOfOneThatFails) {
  if (emulator::device_count() < 3) GTEST_SKIP() << "MYGEMM_EMULATED_DEVICES is less than 3";
  constexpr PipelineLimits kLimits{{1'000'000, 8, 8}, 100, 0};
  for (const int device : {0, 1, 2}) {
    int lost = 0;
    int whole = 0;  // rounds in which the device ended before: others may have taken its tiles
    for (int records = 0; whole < 3; records += 7) {
      Gpu gpus[] = {{0, kLimits}, {1, kLimits}, {2, kLimits}};
      OwnedProduct product(true, false, 56, 64, 24, 0.5f);
      failing_device = device;
      records_until_failure = records;
      const bool done = multiply_on(product, &gpus[0], &gpus[1], &gpus[2]);
      records_until_failure = -1;
      failing_device = -1;
      EXPECT_EQ(done ? product.wrong() : 0, 0) << device << ' ' << records;
      EXPECT_TRUE(done || product.unchanged()) << device << ' ' << records;
      EXPECT_TRUE(done || device == 0);  // its tiling is all that is lost with the first one
      for (const Gpu& gpu : gpus) EXPECT_TRUE(!gpu.is_lost() || gpu.device() == device);
      ++(gpus[device].is_lost() ? lost : whole);
    }
    EXPECT_GT(lost, 2) << device;
  }
}

TEST(BlasPipelineFailure, TheHostTakesTheTilesOfGpusThatAllFail) {
  if (emulator::device_count() < 2) GTEST_SKIP() << "MYGEMM_EMULATED_DEVICES is less than 2";
  constexpr PipelineLimits kLimits{{1'000'000, 8, 8}, 100, 0};
  int finished_by_host = 0;
  for (int records = 0;; records += 5) {
    Gpu first(0, kLimits), second(1, kLimits);
    OwnedProduct product(false, false, 56, 64, 24, -0.5f);
    records_until_failure = records;
    const bool done = multiply_on(product, &first, &second);
    records_until_failure = -1;
    EXPECT_EQ(done ? product.wrong() : 0, 0) << records;
    EXPECT_TRUE(done || product.unchanged()) << records;
    if (!first.is_lost() && !second.is_lost()) break;
    finished_by_host += done && first.is_lost() && second.is_lost() ? 1 : 0;
  }
  EXPECT_GT(finished_by_host, 5);
}

TEST(BlasPipelineFailure, ThreadsThatWaitForOneThatFailsReturn) {
  const int before = host::num_threads();
  host::set_num_threads(6);
  constexpr PipelineLimits kLimits{{1'000'000, 64, 4, 40'000}, 80'000, 0};
  int lost = 0;
  for (int records = 0;; ++records) {
    Gpu gpu(0, kLimits);
    OwnedProduct product(false, true, 1000, 410, 4, 0.5f);
    records_until_failure = records;
    const bool done = multiply_on(product, &gpu);
    records_until_failure = -1;
    EXPECT_EQ(done ? product.wrong() : 0, 0) << records;
    EXPECT_TRUE(done || product.unchanged()) << records;
    if (!gpu.is_lost()) break;
    ++lost;
  }
  EXPECT_GT(lost, 10);
  host::set_num_threads(before);
}

TEST(BlasPipelineFailure, ProcessesThatShareADeviceHaveEqualPartsOfHalfOfIt) {
  constexpr int64_t kHalf = emulator::kDeviceMemoryBytes / 2 / sizeof(float);
  constexpr int64_t kAny = int64_t{1} << 40;
  for (const int processes : {2, 4, 7}) {
    const Pipeline first({{kAny, 256, 16}, 1024, 0, processes});
    const Pipeline second({{kAny, 256, 16}, 1024, 0, processes});
    EXPECT_EQ(first.most_device_floats(), kHalf / processes);
    EXPECT_EQ(second.most_device_floats(), first.most_device_floats());
  }
}

// In a process of its own: it has no GPU afterwards.
[[noreturn]] void lose_the_gpu() {
  char path[] = "/tmp/mygemm_lost_XXXXXX";
  const int file = mkstemp(path);
  dup2(file, STDERR_FILENO);
  OwnedProduct first(false, true, 40, 48, 24, 0.5f);
  const bool taken = multiply_on_gpu(first.product());
  records_until_failure = 0;
  OwnedProduct lost(false, true, 40, 48, 24, 0.5f);
  for (int call = 0; call < 3; ++call) {
    if (!multiply_on_gpu(lost.product())) continue;
    std::_Exit(1);
  }
  std::ifstream stream(path);
  const std::string said{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  unlink(path);
  std::string expected;
  for (int device = 0; device < emulator::device_count(); ++device) {
    const bool last = device == emulator::device_count() - 1;
    expected += "mygemm: process " + std::to_string(getpid()) + ", device " +
                std::to_string(device) +
                ": the GPU is lost: unspecified launch failure; products are computed on " +
                (last ? "the host" : "the others") + " from now on\n";
  }
  std::_Exit(taken && lost.unchanged() && !offload_is_possible() && said == expected ? 0 : 2);
}

TEST(BlasPipelineFailure, AGpuThatIsLostIsToldOfOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_gpu(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mygemm::blas
