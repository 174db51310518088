// Tests the emulator's tensor memory accelerator, and the library's own maps on it: boxes arrive
// where they must, and every kind of mistake that the emulator detects is reported.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "device.h"
#include "emulator_fixture.h"
#include "kernels/swizzle.h"
#include "kernels/tensor_map.h"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"
#include "ptx/tma.cuh"

namespace {

using mygemm::TensorMapShape;
namespace ptx = mygemm::ptx;

class TmaTest : public EmulatorTest {
 protected:
  void SetUp() override {
    if (emulator::device().cc < 90) GTEST_SKIP() << "the emulated device has no accelerator";
  }
};
using TmaDeathTest = TmaTest;

CUtensorMap encode(const TensorMapShape& shape) {
  CUtensorMap map{};
  EXPECT_EQ(mygemm::encode_tensor_map(&map, shape), MYGEMM_STATUS_SUCCESS)
      << mygemm::last_error_text();
  return map;
}

// Elements 1, 2, 3, ...: none is zero or all ones.
template <class T>
std::vector<T> counting(size_t size) {
  std::vector<T> values(size);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

struct At {
  int x, y, z;
};

// ---- where bytes land ----

struct Buffer {
  unsigned char bytes[4096];
  uint64_t full;
};

// One box, copied out of shared memory byte by byte.
__global__ void load_box(const __grid_constant__ CUtensorMap map, At at, unsigned bytes,
                         unsigned char* out) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  if (threadIdx.x == 0) {
    ptx::tma_prefetch_map(&map);
    ptx::mbarrier_init(&shared.full, 1);
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&shared.full, bytes);
    ptx::tma_load_3d(shared.bytes, &map, &shared.full, at.x, at.y, at.z);
  }
  ptx::mbarrier_wait(&shared.full, 0);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = shared.bytes[i];
}

template <class T>
std::vector<T> box_of(const TensorMapShape& shape, At at) {
  const auto elements = static_cast<size_t>(shape.box[0] * shape.box[1] * shape.box[2]);
  const auto bytes = static_cast<unsigned>(elements * sizeof(T));
  const DeviceArray<unsigned char> out(bytes);
  EXPECT_EQ(launch(1, 64, sizeof(Buffer), load_box, encode(shape), at, bytes, out.data()),
            cudaSuccess);
  std::vector<T> result(elements);
  std::memcpy(result.data(), out.values().data(), bytes);
  return result;
}

template <class T>
class TmaElements : public TmaTest {};
using Elements = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(TmaElements, Elements);

TYPED_TEST(TmaElements, BoxesReachBeyondEveryEdge) {
  using T = TypeParam;
  constexpr int kSize = sizeof(T), kCols = 20, kRows = 5, kDepth = 3;
  constexpr int kPitch = 32, kSlice = kPitch * (kRows + 1);  // in elements, with gaps
  const std::vector<T> values = counting<T>(kSlice * kDepth);
  const DeviceArray<T> tensor(values);
  const TensorMapShape shape = {
      tensor.data(), kSize, {kCols, kRows, kDepth}, {kPitch * kSize, kSlice * kSize},
      {16, 4, 2},    false};
  constexpr int kChunk = 16 / kSize;  // boxes begin at multiples of 16 bytes
  for (const At at : {At{0, 0, 0}, At{kChunk, 1, 1}, At{-kChunk, -2, -1},
                      At{16 / kChunk * kChunk, 3, 2}, At{96, 0, 0}}) {
    const std::vector<T> box = box_of<T>(shape, at);
    for (int i = 0; i < static_cast<int>(box.size()); ++i) {
      const int x = at.x + i % 16, y = at.y + i / 16 % 4, z = at.z + i / 64;
      const bool inside = x >= 0 && x < kCols && y >= 0 && y < kRows && z >= 0 && z < kDepth;
      const T expected = inside ? values[static_cast<size_t>(z * kSlice + y * kPitch + x)] : T{0};
      EXPECT_EQ(box[static_cast<size_t>(i)], expected) << x << ", " << y << ", " << z;
    }
  }
}

TEST_F(TmaTest, SwizzleIsTheOneOfTheHeader) {
  const std::vector<uint32_t> values = counting<uint32_t>(32 * 24);
  const DeviceArray<uint32_t> tensor(values);
  const TensorMapShape shape = {tensor.data(), 4, {32, 24, 1}, {128, 128 * 24}, {32, 24, 1}, true};
  const std::vector<uint32_t> box = box_of<uint32_t>(shape, {0, 0, 0});
  for (int i = 0; i < 32 * 24; ++i) {
    const int physical = mygemm::swizzle_128b(4 * i) / 4;
    EXPECT_EQ(box[static_cast<size_t>(physical)], values[static_cast<size_t>(i)]) << i;
  }
}

// ---- synchronisation ----

constexpr unsigned kRow = 32;  // floats
constexpr int kStages = 2;

struct Ring {
  alignas(128) float rows[kStages][kRow];
  uint64_t full[kStages];
};

enum class Missing { kNothing, kWait, kBarrier, kInitBarrier };

// out[i] = the sum of column i, one row a step, loaded one step ahead.
template <Missing kMissing>
__global__ void sum_rows(const __grid_constant__ CUtensorMap map, int rows, float* out) {
  Ring& shared = mygemm::shared_storage<Ring>();
  if (threadIdx.x == 0) {
    for (uint64_t& barrier : shared.full) ptx::mbarrier_init(&barrier, 1);
    ptx::mbarrier_init_fence();
  }
  if (kMissing != Missing::kInitBarrier) __syncthreads();
  const auto load = [&](int row) {
    if (threadIdx.x != 0 || row >= rows) return;
    uint64_t* const full = &shared.full[row % kStages];
    ptx::mbarrier_arrive_expect_tx(full, sizeof shared.rows[0]);
    ptx::tma_load_3d(shared.rows[row % kStages], &map, full, 0, row, 0);
  };
  load(0);
  float sum = 0;
  for (int row = 0; row < rows; ++row) {
    load(row + 1);
    if (kMissing != Missing::kWait || threadIdx.x < 32) {
      ptx::mbarrier_wait(&shared.full[row % kStages], static_cast<unsigned>(row / kStages % 2));
    }
    sum += shared.rows[row % kStages][threadIdx.x % kRow];
    if (kMissing != Missing::kBarrier) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

template <Missing kMissing>
std::vector<float> column_sums(unsigned blocks = 1) {
  constexpr int kRows = 9;
  const DeviceArray<float> in(counting<float>(kRow * kRows));
  const DeviceArray<float> out(2 * kRow);
  const CUtensorMap map =
      encode({in.data(), 4, {kRow, kRows, 1}, {4 * kRow, 4 * kRow * kRows}, {kRow, 1, 1}, false});
  EXPECT_EQ(launch(blocks, 2 * kRow, sizeof(Ring), sum_rows<kMissing>, map, kRows, out.data()),
            cudaSuccess);
  return out.values();
}

std::vector<float> expected_sums() {
  std::vector<float> sums(2 * kRow);
  for (unsigned i = 0; i < sums.size(); ++i) {
    for (unsigned row = 0; row < 9; ++row) sums[i] += static_cast<float>(row * kRow + i % kRow + 1);
  }
  return sums;
}

constexpr const char* kSeeds[] = {"1", "2", "3", "4", "5", "6", "7", "8"};

TEST_F(TmaTest, PipelineIsRightInAnyOrder) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    EXPECT_EQ(column_sums<Missing::kNothing>(3), expected_sums()) << "seed " << seed;
  }
}

TEST_F(TmaTest, WarpThatDoesNotWaitFindsNothing) {
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    const std::vector<float> sums = column_sums<Missing::kWait>();
    EXPECT_EQ(sums[0], expected_sums()[0]) << "seed " << seed;
    EXPECT_NE(sums[kRow], sums[kRow]) << "seed " << seed;  // NaN
  }
}

TEST_F(TmaTest, BufferRefilledTooEarlyIsNoticed) {
  bool seen = false;
  for (const char* seed : kSeeds) {
    setenv("MYGEMM_EMULATED_SEED", seed, 1);
    seen = seen || column_sums<Missing::kBarrier>() != expected_sums();
  }
  EXPECT_TRUE(seen);
}

TEST_F(TmaDeathTest, BarrierUsedBeforeItIsInitialisedIsCaught) {
  const auto with_every_seed = [] {
    for (const char* seed : kSeeds) {
      setenv("MYGEMM_EMULATED_SEED", seed, 1);
      column_sums<Missing::kInitBarrier>();
    }
  };
  EXPECT_DEATH(with_every_seed(), "try_wait of a barrier that was never initialised");
}

__global__ void wait_for_the_last_phase(int* out) {
  auto& barrier = mygemm::shared_storage<uint64_t>();
  ptx::mbarrier_init(&barrier, 2);
  ptx::mbarrier_wait(&barrier, 1);  // the one before the first is over
  for (unsigned phase = 0; phase < 3; ++phase) {
    ptx::mbarrier_arrive_expect_tx(&barrier, 0);
    ptx::mbarrier_wait(&barrier, (phase + 1) % 2);
    ptx::mbarrier_arrive_expect_tx(&barrier, 0);
    ptx::mbarrier_wait(&barrier, phase % 2);
  }
  *out = 1;
}

TEST_F(TmaTest, LastPhaseIsOverAtOnce) {
  const DeviceArray<int> out(1);
  ASSERT_EQ(launch(1, 1, sizeof(uint64_t), wait_for_the_last_phase, out.data()), cudaSuccess);
  EXPECT_EQ(out.values()[0], 1);
}

// ---- mistakes ----

struct Step {
  int offset = 0;         // of the buffer in shared memory
  int x = 0;              // the box's first element
  unsigned bytes = 128;   // announced
  unsigned arrivals = 1;  // of the barrier
  bool fenced = true;
  bool waits = true;
  bool overwritten = false;
  int inits = 1;
};

__global__ void load_row(const __grid_constant__ CUtensorMap map, Step step) {
  Buffer& shared = mygemm::shared_storage<Buffer>();
  for (int i = 0; i < step.inits; ++i) ptx::mbarrier_init(&shared.full, step.arrivals);
  if (step.fenced) ptx::mbarrier_init_fence();
  if (step.overwritten) shared.full = 0;
  ptx::mbarrier_arrive_expect_tx(&shared.full, step.bytes);
  ptx::tma_load_3d(shared.bytes + step.offset, &map, &shared.full, step.x, 0, 0);
  if (step.waits) ptx::mbarrier_wait(&shared.full, 0);
}

// The launch's result; what it wrote to stderr in `report`.
cudaError_t run(const Step& step, std::string* report = nullptr, bool swizzled = false) {
  const DeviceArray<float> in(kRow);
  const CUtensorMap map =
      encode({in.data(), 4, {kRow, 1, 1}, {4 * kRow, 4 * kRow}, {kRow, 1, 1}, swizzled});
  if (report) ::testing::internal::CaptureStderr();
  const cudaError_t result = launch(1, 1, sizeof(Buffer), load_row, map, step);
  if (report) *report = ::testing::internal::GetCapturedStderr();
  return result;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_F(TmaTest, WrongCountOfBytesFailsTheLaunchAndSaysSo) {
  std::string report;
  EXPECT_EQ(run({}), cudaSuccess);
  for (const unsigned bytes : {112u, 144u}) {
    EXPECT_EQ(run({.bytes = bytes}, &report), cudaErrorLaunchFailure);
    EXPECT_TRUE(contains(report, "each waits at mbarrier_wait, parity 0")) << report;
    EXPECT_TRUE(contains(report, "tma_test.cpp")) << report;
    EXPECT_TRUE(contains(report, bytes == 112 ? "and -16 bytes" : "and 16 bytes")) << report;
    EXPECT_TRUE(contains(report, "at byte 4096 of shared memory: phase 0 lacks 0 of 1")) << report;
    cudaDeviceReset();
  }
}

TEST_F(TmaTest, MissingArrivalFailsTheLaunch) {
  std::string report;
  EXPECT_EQ(run({.arrivals = 2}, &report), cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(report, "lacks 1 of 2 arrivals and 0 bytes")) << report;
}

TEST_F(TmaTest, CopyThatNothingWaitsForFailsTheLaunch) {
  std::string report;
  EXPECT_EQ(run({.waits = false}, &report), cudaErrorLaunchFailure);
  EXPECT_TRUE(contains(report, "copy of box (0, 0, 0), 128 bytes")) << report;
}

TEST_F(TmaDeathTest, MisuseIsCaught) {
  EXPECT_EQ(run({.offset = 128}), cudaSuccess);
  EXPECT_DEATH(run({.offset = 64}), "misaligned cp.async.bulk.tensor");
  EXPECT_DEATH(run({.offset = 128}, nullptr, true), "no multiple of 1024");
  EXPECT_EQ(run({.x = 4}), cudaSuccess);
  EXPECT_DEATH(run({.x = 2}), "begins at element 2 of a line");
  EXPECT_DEATH(run({.offset = 5120}), "beyond the block's shared memory");
  EXPECT_DEATH(run({.bytes = 1u << 20}), "waits for 1048576 bytes");
  EXPECT_DEATH(run({.arrivals = 0}), "for 0 arrivals");
  EXPECT_DEATH(run({.fenced = false}), "without a fence");
  EXPECT_DEATH(run({.overwritten = true}), "overwritten");
  EXPECT_DEATH(run({.inits = 0}), "never initialised");
  EXPECT_DEATH(run({.inits = 2}), "that exists");
}

__global__ void load_by_no_map() {
  const CUtensorMap map{};
  ptx::tma_prefetch_map(&map);
}

TEST_F(TmaDeathTest, MapThatWasNeverEncodedIsCaught) {
  EXPECT_DEATH(launch(1, 1, 0, load_by_no_map), "no tensor map");
}

// ---- maps ----

// A thread whose first call into CUDA is a product has no context yet.
TEST_F(TmaTest, MapsAreMadeByThreadsThatHaveCalledNothing) {
  const TensorMapShape shape = {
      reinterpret_cast<void*>(0x1000), 4, {32, 8, 1}, {128, 1024}, {32, 8, 1}, true};
  std::thread([&] { encode(shape); }).join();
}

TEST_F(TmaTest, MapsThatBreakARuleAreRefused) {
  const auto status = [](auto&& change) {
    constexpr int64_t kBytes = 128;
    TensorMapShape shape = {
        reinterpret_cast<void*>(0x1000), 4, {32, 8, 1}, {kBytes, 8 * kBytes}, {32, 8, 1}, true};
    change(shape);
    CUtensorMap map;
    return mygemm::encode_tensor_map(&map, shape);
  };
  const auto refused = [&](auto&& change) {
    return status(change) == MYGEMM_STATUS_EXECUTION_FAILED;
  };
  using Shape = TensorMapShape;
  constexpr int64_t kMostExtent = int64_t{1} << 32, kTooFar = int64_t{1} << 40;
  EXPECT_EQ(status([](Shape&) {}), MYGEMM_STATUS_SUCCESS);
  EXPECT_TRUE(refused([](Shape& s) { s.address = reinterpret_cast<void*>(0x1008); }));
  EXPECT_TRUE(refused([](Shape& s) { s.address = nullptr; }));
  for (int d = 0; d < 3; ++d) {
    EXPECT_TRUE(refused([d](Shape& s) { s.extents[d] = 0; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.extents[d] = -1; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.extents[d] = kMostExtent + 1; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.box[d] = 0; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.box[d] = 260; })) << d;
  }
  EXPECT_EQ(status([](Shape& s) { s.extents[1] = kMostExtent; }), MYGEMM_STATUS_SUCCESS);
  for (int d = 0; d < 2; ++d) {
    EXPECT_TRUE(refused([d](Shape& s) { s.strides[d] += 8; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.strides[d] = kTooFar; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.strides[d] = 0; })) << d;
    EXPECT_TRUE(refused([d](Shape& s) { s.strides[d] = -16; })) << d;
    EXPECT_EQ(status([d](Shape& s) { s.strides[d] = kTooFar - 16; }), MYGEMM_STATUS_SUCCESS) << d;
  }
  EXPECT_TRUE(refused([](Shape& s) { s.strides[0] -= 16; }));
  EXPECT_TRUE(refused([](Shape& s) { s.box[0] = 30; }));
  EXPECT_TRUE(refused([](Shape& s) { s.box[0] = 36; }));
  EXPECT_EQ(status([](Shape& s) { s.box[0] = 36, s.swizzled = false; }), MYGEMM_STATUS_SUCCESS);
  EXPECT_TRUE(refused([](Shape& s) { s.box[0] = 36; }));
  EXPECT_NE(std::string(mygemm::last_error_text()).find("box 36 x 8 x 1, swizzled"),
            std::string::npos);
}

TEST_F(TmaTest, DriverAnswersByNameAndVersion) {
  void* function = nullptr;
  auto result = cudaDriverEntryPointSuccess;
  const auto ask = [&](const char* name, unsigned version) {
    EXPECT_EQ(
        cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &result),
        cudaSuccess);
    return result;
  };
  EXPECT_EQ(ask("cuTensorMapEncode", 12000), cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(ask("cuTensorMapEncodeTiled", 11080), cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(ask("cuTensorMapEncodeTiled", 12000), cudaDriverEntryPointSuccess);
  EXPECT_NE(function, nullptr);
}

}  // namespace
