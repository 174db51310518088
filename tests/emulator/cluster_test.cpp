// Tests the emulator's clusters: blocks that run together and the stores between them. Every kind
// of mistake that the emulator detects is reported.
#include <string>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "ptx/bulk.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"

namespace {

namespace ptx = mygemm::ptx;

constexpr const char* kSeeds[] = {"1", "2", "3", "4", "5", "6", "7", "8"};

class ClusterTest : public EmulatorTest {
 protected:
  void SetUp() override {
    if (emulator::device().cc < 90) GTEST_SKIP() << "the emulated device has no clusters";
  }
};
using ClusterDeathTest = ClusterTest;

// ---- who is where ----

__global__ void record_places(uint4* out) {
  out[blockIdx.x] = make_uint4(ptx::cluster_rank(), ptx::cluster_blocks(), ptx::cluster_number(),
                               ptx::cluster_count());
}

void expect_places(const std::vector<uint4>& places, unsigned blocks, unsigned cluster) {
  for (unsigned block = 0; block < blocks; ++block) {
    EXPECT_EQ(places[block].x, block % cluster);
    EXPECT_EQ(places[block].y, cluster);
    EXPECT_EQ(places[block].z, block / cluster);
    EXPECT_EQ(places[block].w, blocks / cluster);
  }
}

TEST_F(ClusterTest, BlocksKnowTheirPlaces) {
  for (const unsigned cluster : {1u, 2u, 3u, 4u}) {
    const DeviceArray<uint4> out(12);
    ASSERT_EQ(launch_clusters(cluster, 12, 1, 0, record_places, out.data()), cudaSuccess);
    expect_places(out.values(), 12, cluster);
  }
  const DeviceArray<uint4> out(12);
  ASSERT_EQ(launch(12, 1, 0, record_places, out.data()), cudaSuccess);
  expect_places(out.values(), 12, 1);
}

TEST_F(ClusterTest, GridsAreCutToWholeClusters) {
  setenv("MYGEMM_EMULATED_BLOCKS", "5", 1);
  const DeviceArray<uint4> out(12);
  ASSERT_EQ(launch_clusters(4, 12, 1, 0, record_places, out.data()), cudaSuccess);
  expect_places(out.values(), 8, 4);
  EXPECT_EQ(out.values()[8].y, 0u);
}

// ---- barriers ----

// Each block runs a different number of steps, with barriers and exchanges within the block.
__global__ void step_apart(int* out) {
  int& shared = mygemm::shared_storage<int>();
  const unsigned number = threadIdx.x;
  if (number == 0) shared = 0;
  for (unsigned i = 0; i <= ptx::cluster_rank(); ++i) {
    __syncthreads();
    if (number == i) shared += __shfl_sync(1u << number, 1, static_cast<int>(number));
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + number] = shared;
  ptx::cluster_sync();
}

TEST_F(ClusterTest, BarriersOfABlockAreItsOwn) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const DeviceArray<int> out(8 * 64);
    ASSERT_EQ(launch_clusters(4, 8, 64, sizeof(int), step_apart, out.data()), cudaSuccess);
    const std::vector<int> steps = out.values();
    for (size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i], static_cast<int>(i / 64 % 4 + 1));
  }
}

// Every block reads what its neighbour has written to global memory.
template <bool kWithBarrier>
__global__ void pass_on(int* scratch, int* out) {
  if (threadIdx.x == 0) scratch[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  if (kWithBarrier) ptx::cluster_sync();
  if (threadIdx.x == 0) out[blockIdx.x] = scratch[blockIdx.x ^ 1];
}

template <bool kWithBarrier>
std::vector<int> passed_on() {
  const DeviceArray<int> scratch(4), out(4);
  EXPECT_EQ(launch_clusters(2, 4, 64, 0, pass_on<kWithBarrier>, scratch.data(), out.data()),
            cudaSuccess);
  return out.values();
}

TEST_F(ClusterTest, BlockThatRunsAheadIsNoticed) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    EXPECT_EQ(passed_on<true>(), (std::vector<int>{2, 1, 4, 3}));
    EXPECT_NE(passed_on<false>(), (std::vector<int>{2, 1, 4, 3}));
  }
}

__global__ void block_misses_the_barrier() {
  if (ptx::cluster_rank() == 0) ptx::cluster_sync();
}

TEST_F(ClusterTest, BlockThatLeavesEarlyFailsTheLaunch) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(launch_clusters(2, 2, 32, 0, block_misses_the_barrier), cudaErrorLaunchFailure);
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("block (0, 0, 0) cannot finish"), std::string::npos) << report;
  EXPECT_NE(report.find("threads 0 to 31: each waits at cluster_sync"), std::string::npos);
  EXPECT_NE(report.find("cluster_test.cpp"), std::string::npos);
  EXPECT_NE(report.find("threads 0 to 31: each has exited"), std::string::npos);
}

// ---- stores to other blocks ----

using Value = unsigned long long;
constexpr int kRounds = 5;

struct Exchange {
  uint64_t values[kRounds][16];
  uint64_t full[2];
};

enum class Missing { kNothing, kWait, kFirstSync, kSecondBarrier };

// out[i] = the sum over all rounds and blocks of the cluster of in[block] + round. Each block sends
// its value to all. Two barriers take turns: a block may be one round ahead of another.
template <Missing kMissing>
__global__ void sum_clusters(const Value* in, Value* out) {
  Exchange& shared = mygemm::shared_storage<Exchange>();
  const unsigned blocks = ptx::cluster_blocks();
  if (threadIdx.x == 0) {
    for (uint64_t& barrier : shared.full) ptx::mbarrier_init(&barrier, 1);
    ptx::mbarrier_init_fence();
  }
  if (kMissing == Missing::kFirstSync) {
    __syncthreads();
  } else {
    ptx::cluster_sync();
  }
  Value sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int turn = kMissing == Missing::kSecondBarrier ? 0 : round % 2;
    const int phase = kMissing == Missing::kSecondBarrier ? round : round / 2;
    uint64_t* const full = &shared.full[turn];
    if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(full, 8 * blocks);
    if (threadIdx.x < blocks) {
      ptx::store_async_8(&shared.values[round][ptx::cluster_rank()], full, threadIdx.x,
                         in[blockIdx.x] + static_cast<Value>(round));
    }
    if (kMissing != Missing::kWait || threadIdx.x < 32) {
      ptx::mbarrier_wait(full, static_cast<unsigned>(phase % 2));
    }
    for (unsigned i = 0; i < blocks; ++i) sum += shared.values[round][i];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  ptx::cluster_sync();
}

constexpr unsigned kThreads = 64;

struct Sums {
  cudaError_t error;
  bool right;
};

template <Missing kMissing = Missing::kNothing>
Sums sums_of(unsigned cluster, unsigned blocks, unsigned threads = kThreads) {
  std::vector<Value> values(blocks);
  for (unsigned i = 0; i < blocks; ++i) values[i] = (Value{i} << 40) + i + 1;
  const DeviceArray<Value> in(values), out(blocks * threads);
  EXPECT_EQ(cudaFuncSetAttribute(sum_clusters<kMissing>,
                                 cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  Sums sums{launch_clusters(cluster, blocks, threads, sizeof(Exchange), sum_clusters<kMissing>,
                            in.data(), out.data()),
            true};
  const std::vector<Value> found = out.values();
  for (unsigned block = 0; block < blocks; ++block) {
    Value expected = 0;
    for (unsigned i = 0; i < cluster; ++i) {
      expected += kRounds * values[block / cluster * cluster + i] + kRounds * (kRounds - 1) / 2;
    }
    for (unsigned i = 0; i < threads; ++i) {
      sums.right = sums.right && found[block * threads + i] == expected;
    }
  }
  return sums;
}

TEST_F(ClusterTest, ReductionIsRightInAnyOrder) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    for (const unsigned cluster : {1u, 2u, 4u, 8u}) {
      const Sums sums = sums_of(cluster, 2 * cluster);
      EXPECT_EQ(sums.error, cudaSuccess);
      EXPECT_TRUE(sums.right) << cluster << ", seed " << seed;
    }
  }
}

TEST_F(ClusterTest, LargestClusterRuns) {
  const Sums sums = sums_of(16, 32, 512);
  EXPECT_EQ(sums.error, cudaSuccess);
  EXPECT_TRUE(sums.right);
}

TEST_F(ClusterTest, WarpThatDoesNotWaitIsNoticed) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    EXPECT_FALSE(sums_of<Missing::kWait>(4, 4).right) << "seed " << seed;
  }
}

TEST_F(ClusterTest, RoundThatOvertakesAnotherIsNoticed) {
  ::testing::internal::CaptureStderr();
  bool seen = false;
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const Sums sums = sums_of<Missing::kSecondBarrier>(4, 4);
    seen = seen || sums.error != cudaSuccess || !sums.right;
    cudaDeviceReset();
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(seen);
}

TEST_F(ClusterDeathTest, StoreToABlockThatHasNotBegunIsCaught) {
  EXPECT_DEATH(sums_of<Missing::kFirstSync>(4, 4), "st.async of a barrier that was never");
}

// ---- mistakes ----

struct Step {
  int offset = 0;        // of the variable in shared memory
  int full_offset = 16;  // of the barrier
  unsigned rank = 1;     // that block 0 sends to
  unsigned bytes = 8;    // announced there
  bool initialised = true;
  bool fenced = true;
  bool synced = true;
  bool waits = true;
  bool late = false;  // block 0 sends when block 1 has ended
};

struct Buffer {
  alignas(16) uint64_t value;
  alignas(16) uint64_t full, loaded;
  alignas(16) unsigned char bytes[16];
};

// Block 0 sends a value to block `rank`, and all wait for the end of that block's phase.
__global__ void send(Step step, const void* in) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  auto* const bytes = reinterpret_cast<unsigned char*>(&shared);
  if (step.initialised) ptx::mbarrier_init(&shared.full, 1);
  if (step.fenced) ptx::mbarrier_init_fence();
  if (step.synced) ptx::cluster_sync();
  const bool receives = ptx::cluster_rank() == step.rank;
  if (receives) ptx::mbarrier_arrive_expect_tx(&shared.full, step.bytes);
  if (ptx::cluster_rank() == 0) {
    if (step.late) {  // its wait ends when all else is done
      ptx::mbarrier_init(&shared.loaded, 1);
      ptx::mbarrier_init_fence();
      ptx::bulk_load(shared.bytes, in, 16, &shared.loaded);
      ptx::mbarrier_arrive_expect_tx(&shared.loaded, 16);
      ptx::mbarrier_wait(&shared.loaded, 0);
    }
    ptx::store_async_8(bytes + step.offset, reinterpret_cast<uint64_t*>(bytes + step.full_offset),
                       step.rank, 1);
  }
  if (receives && step.waits) ptx::mbarrier_wait(&shared.full, 0);
  if (!step.late) ptx::cluster_sync();
}

// The launch's result; what it wrote to stderr in `report`.
cudaError_t run(const Step& step, std::string* report = nullptr, bool clustered = true) {
  const DeviceArray<int> in(4);
  if (report) ::testing::internal::CaptureStderr();
  const cudaError_t result = clustered
                                 ? launch_clusters(2, 2, 1, sizeof(Buffer), send, step, in.data())
                                 : launch(2, 1, sizeof(Buffer), send, step, in.data());
  if (report) *report = ::testing::internal::GetCapturedStderr();
  return result;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ClusterDeathTest, MisuseIsCaught) {
  EXPECT_EQ(run({}), cudaSuccess);
  EXPECT_EQ(run({.fenced = false}), cudaSuccess);
  EXPECT_EQ(run({.rank = 0, .synced = false}), cudaSuccess);
  EXPECT_DEATH(run({.offset = 4}), "misaligned st.async to .* no multiple of 8");
  EXPECT_DEATH(run({.offset = sizeof(Buffer)}), "beyond the block's shared memory");
  EXPECT_DEATH(run({.full_offset = sizeof(Buffer)}), "barrier at .* beyond the block's shared");
  EXPECT_DEATH(run({.full_offset = 24}), "never initialised");
  EXPECT_DEATH(run({.rank = 2}), "to block 2 of a cluster of 2");
  EXPECT_DEATH(run({.rank = 0, .fenced = false, .synced = false}), "without a fence or a cluster");
  EXPECT_DEATH(run({.rank = 0}, nullptr, false), "not launched as clusters");
}

TEST_F(ClusterDeathTest, StoreToABlockThatHasEndedIsCaught) {
  EXPECT_DEATH(run({.bytes = 0, .late = true}), "to block 1 of the cluster, which has ended");
}

TEST_F(ClusterTest, StoreThatNothingWaitsForFailsTheLaunch) {
  std::string report;
  EXPECT_EQ(run({.waits = false}, &report), cudaErrorLaunchFailure);
  EXPECT_TRUE(
      contains(report, "store by block 0 of the cluster, 8 bytes, to the barrier at byte 16"))
      << report;
}

TEST_F(ClusterTest, WaitWithoutItsBytesFailsTheLaunch) {
  std::string report;
  EXPECT_EQ(run({.bytes = 16}, &report), cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(report, "block (1, 0, 0) cannot finish")) << report;
  EXPECT_TRUE(contains(report, "each waits at mbarrier_wait, parity 0")) << report;
  EXPECT_TRUE(contains(report, "phase 0 lacks 0 of 1 arrivals and 8 bytes")) << report;
}

// ---- loads from other blocks ----

struct Load {
  int offset = 0;         // of the value in shared memory
  unsigned distance = 2;  // of the blocks that read each other: their numbers differ by these bits
  bool synced = true;     // all have written
  bool waits = true;      // until all have read
};

// Every block writes its number plus 1, and reads that of another one.
__global__ void read_other(Load load, float* out) {
  auto& shared = mygemm::shared_storage<float4>();
  const unsigned rank = ptx::cluster_rank();
  shared = make_float4(0, 0, 0, static_cast<float>(rank + 1));
  if (load.synced) ptx::cluster_sync();
  const auto* const from = reinterpret_cast<const char*>(&shared) + load.offset;
  out[rank] = ptx::load_shared_16_of(rank ^ load.distance, reinterpret_cast<const float*>(from)).w;
  if (load.waits) ptx::cluster_sync();
}

std::vector<float> numbers_read(const Load& load) {
  const DeviceArray<float> out(4);
  EXPECT_EQ(launch_clusters(4, 4, 1, 16, read_other, load, out.data()), cudaSuccess);
  return out.values();
}

TEST_F(ClusterTest, LoadsFromOtherBlocksWaitForThem) {
  const std::vector<float> right{3, 4, 1, 2};
  bool seen = false;
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    EXPECT_EQ(numbers_read({}), right);
    seen = seen || numbers_read({.synced = false}) != right;
  }
  EXPECT_TRUE(seen);
}

TEST_F(ClusterDeathTest, MisuseOfLoadsIsCaught) {
  EXPECT_DEATH(numbers_read({.offset = 4}), "misaligned or beyond the block's shared memory");
  EXPECT_DEATH(numbers_read({.offset = 16}), "misaligned or beyond the block's shared memory");
  EXPECT_DEATH(numbers_read({.distance = 4}), "from block 4 of a cluster of 4");
  EXPECT_DEATH(
      {
        for (const char* seed : kSeeds) {
          setenv("MYGEMM_EMULATED_SEED", seed, 1);
          numbers_read({.waits = false});
        }
      },
      "of the cluster, which has ended");
}

}  // namespace
