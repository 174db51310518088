// Tests the emulator's tensor memory accelerator on copies to several blocks of a cluster and on
// stores, and arrivals at barriers of other blocks.
#include <cstdlib>
#include <string>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "kernels/tensor_map.h"
#include "ptx/bulk.cuh"
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"
#include "ptx/tma.cuh"

namespace {

namespace ptx = mygemm::ptx;

constexpr int kSide = 16, kBoxBytes = kSide * kSide * 4;

struct TmaClusterTest : EmulatorTest {
  void SetUp() override {
    if (emulator::device().cc < 90) GTEST_SKIP() << "the emulated device has no accelerator";
  }
};
using TmaClusterDeathTest = TmaClusterTest;

struct Buffer {
  alignas(128) float boxes[2][kSide * kSide];
  uint64_t full, free;
};

enum class Missing { kNothing, kCommit, kWait };

// Each of two blocks brings a box of `in` to both, arrives at both barriers once it has both, and
// stores the other one's box to its place in `out`.
template <Missing kMissing>
__global__ void swap_boxes(const __grid_constant__ CUtensorMap in,
                           const __grid_constant__ CUtensorMap out) {
  Buffer& s = mygemm::shared_storage<Buffer>();
  const unsigned rank = ptx::cluster_rank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s.full, 1);
    ptx::mbarrier_init(&s.free, 2);
    ptx::mbarrier_init_fence();
  }
  ptx::cluster_sync();
  if (threadIdx.x == 0) {
    const int x = static_cast<int>(rank) * kSide;
    ptx::mbarrier_arrive_expect_tx(&s.full, 2 * kBoxBytes);
    ptx::tma_load_3d_to_all(s.boxes[rank], &in, &s.full, x, 0, 0, 3);
    ptx::mbarrier_wait(&s.full, 0);
    for (unsigned other = 0; other < 2; ++other) ptx::mbarrier_arrive_in(other, &s.free);
    ptx::mbarrier_wait(&s.free, 0);
    ptx::fence_bulk();
    ptx::tma_store_3d(&out, s.boxes[1 - rank], x, 0, 0);
    if (kMissing != Missing::kCommit) ptx::tma_commit_stores();
    if (kMissing != Missing::kWait) ptx::tma_wait_for_reads_of_stores();
  }
  ptx::cluster_sync();
}

// The second box is inside the tensor in part.
constexpr int kColumns = kSide + 12, kLines = kSide - 3, kPitch = 32;

CUtensorMap map_of(const float* data) {
  CUtensorMap map{};
  EXPECT_EQ(mygemm::encode_tensor_map(&map, {.address = data,
                                             .element_bytes = 4,
                                             .extents = {kColumns, kLines, 1},
                                             .strides = {4 * kPitch, 4 * kPitch},
                                             .box = {kSide, kSide, 1},
                                             .swizzled = false}),
            MYGEMM_STATUS_SUCCESS);
  return map;
}

template <Missing kMissing>
cudaError_t swap(const DeviceArray<float>& in, const DeviceArray<float>& out) {
  return launch_clusters(2, 2, 32, sizeof(Buffer), swap_boxes<kMissing>, map_of(in.data()),
                         map_of(out.data()));
}

TEST_F(TmaClusterTest, CopiesToAllBlocksAndStoresInsideTheTensor) {
  std::vector<float> values(kLines * kPitch), expected(values.size(), -1.0f);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  for (size_t line = 0; line < kLines; ++line) {
    for (size_t column = 0; column < kColumns; ++column) {
      const size_t from = column < kSide ? column + kSide : column - kSide;
      expected[line * kPitch + column] = from < kColumns ? values[line * kPitch + from] : 0.0f;
    }
  }
  for (const char* seed : {"1", "2", "3"}) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const DeviceArray<float> in(values), out(std::vector<float>(values.size(), -1.0f));
    ASSERT_EQ(swap<Missing::kNothing>(in, out), cudaSuccess);
    EXPECT_EQ(out.values(), expected);
  }
}

TEST_F(TmaClusterDeathTest, AWaitForStoresThatWereNotCommittedStops) {
  const DeviceArray<float> in(kLines * kPitch), out(kLines * kPitch);
  EXPECT_DEATH(swap<Missing::kCommit>(in, out), "were not committed");
}

TEST_F(TmaClusterTest, AThreadThatDoesNotWaitForItsStoresIsReported) {
  const DeviceArray<float> in(kLines * kPitch), out(kLines * kPitch);
  testing::internal::CaptureStderr();
  EXPECT_NE(swap<Missing::kWait>(in, out), cudaSuccess);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("store of a box by thread 0"),
            std::string::npos);
}

}  // namespace
