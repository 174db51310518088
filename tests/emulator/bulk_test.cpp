// Tests the emulator's copies of plain bytes: they arrive where and when they must, and every kind
// of mistake that the emulator detects is reported.
#include <numeric>
#include <string>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "ptx/bulk.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"

namespace {

namespace ptx = mygemm::ptx;

constexpr const char* kSeeds[] = {"1", "2", "3", "4", "5", "6", "7", "8"};

class BulkTest : public EmulatorTest {
 protected:
  void SetUp() override {
    if (emulator::device().cc < 90) GTEST_SKIP() << "the emulated device has no such copies";
  }
};
using BulkDeathTest = BulkTest;

struct Buffer {
  alignas(16) unsigned char bytes[256];
  uint64_t full, other;
};

// ---- where and when bytes land ----

struct Step {
  int offset = 0;        // of the buffer in shared memory
  int from = 0;          // of the source in the array of 256 bytes
  unsigned bytes = 128;  // copied
  bool initialised = true;
  bool fenced = true;
  bool waits = true;
};

// A copy, and then the whole buffer byte by byte.
__global__ void load(Step step, const unsigned char* in, unsigned char* out) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  if (threadIdx.x == 0) {
    if (step.initialised) ptx::mbarrier_init(&shared.full, 1);
    if (step.fenced) ptx::mbarrier_init_fence();
    for (unsigned char& byte : shared.bytes) byte = 0;
    ptx::fence_bulk();
    ptx::bulk_load(shared.bytes + step.offset, in + step.from, step.bytes, &shared.full);
    ptx::mbarrier_arrive_expect_tx(&shared.full, step.bytes);
  }
  __syncthreads();
  if (step.waits) ptx::mbarrier_wait(&shared.full, 0);
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) out[i] = shared.bytes[i];
  if (!step.waits) ptx::mbarrier_wait(&shared.full, 0);
}

// 0, 1, 2, ...
std::vector<unsigned char> counting() {
  std::vector<unsigned char> values(256);
  std::iota(values.begin(), values.end(), static_cast<unsigned char>(0));
  return values;
}

std::vector<unsigned char> run(const Step& step) {
  const DeviceArray<unsigned char> in(counting()), out(256);
  EXPECT_EQ(launch(1, 64, sizeof(Buffer), load, step, in.data(), out.data()), cudaSuccess);
  return out.values();
}

TEST_F(BulkTest, BytesAreThereAfterTheWaitOnly) {
  for (const bool waits : {true, false}) {
    const std::vector<unsigned char> found = run({.offset = 32, .from = 48, .waits = waits});
    for (size_t i = 0; i < found.size(); ++i) {
      const bool copied = i >= 32 && i < 32 + 128;
      EXPECT_EQ(found[i], copied ? waits ? i + 16 : 255 : 0) << i;
    }
  }
}

// Two copies; that to `full` is announced when that to `other` has arrived, so that its bytes may
// arrive before they are announced.
__global__ void announce_late(const unsigned char* in, unsigned char* out) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&shared.full, 1);
    ptx::mbarrier_init(&shared.other, 1);
    ptx::mbarrier_init_fence();
    ptx::bulk_load(shared.bytes, in, 64, &shared.full);
    ptx::bulk_load(shared.bytes + 64, in + 64, 64, &shared.full);
    ptx::bulk_load(shared.bytes + 128, in + 128, 128, &shared.other);
    ptx::mbarrier_arrive_expect_tx(&shared.other, 128);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_wait(&shared.other, 0);
    ptx::mbarrier_arrive_expect_tx(&shared.full, 128);
  }
  ptx::mbarrier_wait(&shared.full, 0);
  for (unsigned i = threadIdx.x; i < 128; i += blockDim.x) out[i] = shared.bytes[i];
}

TEST_F(BulkTest, BytesMayComeBeforeTheyAreAnnounced) {
  const DeviceArray<unsigned char> in(counting());
  std::vector<unsigned char> expected = counting();
  expected.resize(128);
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const DeviceArray<unsigned char> out(128);
    ASSERT_EQ(launch(1, 64, sizeof(Buffer), announce_late, in.data(), out.data()), cudaSuccess);
    EXPECT_EQ(out.values(), expected) << "seed " << seed;
  }
}

// Every thread but the last one arrives; that one waits for all of them.
__global__ void wait_for_arrivals(int* out) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&shared.full, blockDim.x - 1);
    ptx::mbarrier_init_fence();
    for (unsigned char& byte : shared.bytes) byte = 0;
  }
  __syncthreads();
  if (threadIdx.x + 1 < blockDim.x) {
    shared.bytes[threadIdx.x] = 1;
    ptx::mbarrier_arrive(&shared.full);
    return;
  }
  ptx::mbarrier_wait(&shared.full, 0);
  for (unsigned char byte : shared.bytes) *out += byte;
}

TEST_F(BulkTest, PhaseIsOverOnceAllHaveArrived) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const DeviceArray<int> out(std::vector<int>{0});
    ASSERT_EQ(launch(1, 100, sizeof(Buffer), wait_for_arrivals, out.data()), cudaSuccess);
    EXPECT_EQ(out.values(), std::vector<int>{99}) << "seed " << seed;
  }
}

// ---- mistakes ----

TEST_F(BulkDeathTest, MisuseIsCaught) {
  EXPECT_DEATH(run({.offset = 8}), "misaligned cp.async.bulk to");
  EXPECT_DEATH(run({.from = 8}), "misaligned cp.async.bulk from");
  EXPECT_DEATH(run({.bytes = 0}), "cp.async.bulk of 0 bytes");
  EXPECT_DEATH(run({.bytes = 24}), "cp.async.bulk of 24 bytes");
  EXPECT_DEATH(run({.offset = 160}), "beyond the block's shared memory");
  EXPECT_DEATH(run({.from = 144}), "do not all belong to an allocation");
  EXPECT_DEATH(run({.from = -16}), "do not all belong to an allocation");
  EXPECT_DEATH(run({.initialised = false}), "never initialised");
  EXPECT_DEATH(run({.fenced = false}), "without a fence");
}

__global__ void load_and_leave(const unsigned char* in) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  ptx::mbarrier_init(&shared.full, 1);
  ptx::mbarrier_init_fence();
  ptx::bulk_load(shared.bytes, in, 16, &shared.full);
}

TEST_F(BulkTest, CopyThatNothingWaitsForFailsTheLaunch) {
  const DeviceArray<unsigned char> in(16);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch(1, 1, sizeof(Buffer), load_and_leave, in.data()), cudaErrorLaunchFailure);
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("copy of plain bytes, 16 bytes, to the barrier"), std::string::npos);
}

}  // namespace
