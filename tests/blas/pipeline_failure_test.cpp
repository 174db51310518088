// Tests of the drop-in BLAS on the emulator: a GPU without memory, and failures of CUDA at every
// point of a product.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "blas/offload.h"
#include "blas/pipeline.h"
#include "memory.h"
#include "owned_product.h"

namespace {
int records_until_failure = -1;  // -1: never
size_t largest_allocation = SIZE_MAX;
}  // namespace

// Replaces the emulator's function, which records nothing since its streams are empty.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (records_until_failure == 0) return cudaErrorLaunchFailure;
  if (records_until_failure > 0) --records_until_failure;
  return cudaSuccess;
}

// Replaces the emulator's function, with as much free memory as a test sets.
cudaError_t cudaMalloc(void** data, size_t bytes) {
  *data = bytes <= largest_allocation ? emulator::allocate(bytes) : nullptr;
  return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}

namespace mygemm::blas {
namespace {

constexpr PipelineLimits kRoomy{{1'000'000, 8, 4}, 4096, 1 << 20};

TEST(BlasPipelineFailure, GivesUpWhereMemoryIsTooSmallAndStaysUsable) {
  Pipeline pipeline({{1'500, 8, 4}, 100, 0});
  OwnedProduct large(false, false, 70, 90, 50, 1);
  EXPECT_FALSE(pipeline.multiply(large.product()));
  EXPECT_TRUE(large.unchanged());
  EXPECT_FALSE(pipeline.broken());
  OwnedProduct small(false, false, 8, 8, 8, 1);
  EXPECT_TRUE(pipeline.multiply(small.product()));
  EXPECT_EQ(small.wrong(), 0);
}

TEST(BlasPipelineFailure, TakesSmallerTilesWhereDeviceMemoryIsTaken) {
  Pipeline pipeline(kRoomy);
  OwnedProduct product(false, false, 70, 90, 50, 1);  // 71 KiB uncut
  largest_allocation = 40'000;
  EXPECT_TRUE(pipeline.multiply(product.product()));
  largest_allocation = 1'000;
  OwnedProduct another(false, false, 90, 70, 50, 1);
  EXPECT_FALSE(pipeline.multiply(another.product()));
  EXPECT_TRUE(another.unchanged());
  largest_allocation = SIZE_MAX;
  EXPECT_TRUE(pipeline.multiply(another.product()));
  EXPECT_EQ(product.wrong(), 0);
  EXPECT_EQ(another.wrong(), 0);
}

// After any failure, C is either unchanged or complete.
TEST(BlasPipelineFailure, LeavesTheRestToTheHostWhereCudaFails) {
  int untouched = 0;
  int finished_by_host = 0;
  for (int records = 0;; ++records) {
    Pipeline pipeline({{5'000, 8, 4}, 300, 0});
    OwnedProduct product(false, true, 40, 48, 24, 0.5f);
    records_until_failure = records;
    const bool done = pipeline.multiply(product.product());
    const bool failed = records_until_failure == 0 && pipeline.broken();
    records_until_failure = -1;
    EXPECT_EQ(done ? product.wrong() : 0, 0) << records;
    EXPECT_TRUE(done || product.unchanged()) << records;
    EXPECT_EQ(pipeline.broken(), failed);
    if (!failed) break;
    ++(done ? finished_by_host : untouched);
  }
  EXPECT_GT(untouched, 3);
  EXPECT_GT(finished_by_host, 50);
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
  const std::string expected =
      "mygemm: process " + std::to_string(getpid()) + ", device 0: the GPU is lost: ";
  const bool once = said.starts_with(expected) && said.find('\n') == said.size() - 1;
  std::_Exit(taken && lost.unchanged() && !offload_is_possible() && once ? 0 : 2);
}

TEST(BlasPipelineFailure, AGpuThatIsLostIsToldOfOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_gpu(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mygemm::blas
