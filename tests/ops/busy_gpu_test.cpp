// Ops tests for a GPU only: products by stream-K, whose blocks wait for each other, and by split-K,
// in eight streams on a GPU of which another kernel holds all but a few multiprocessors. All must
// end, with the same bits as on a free GPU.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "occupier.h"
#include "support/handle.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr int kStreams = 8;
constexpr int kRounds = 200;  // on each number of free multiprocessors
constexpr auto kRoundLimit = std::chrono::seconds(20);
constexpr size_t kWorkspace = size_t{36} << 20;
// A few tiles of every size with many k steps each: k is divided among all blocks.
constexpr int64_t kM = 384, kN = 320, kK = 2048;

void require(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

DeviceBuffer random_matrix(int64_t elements, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(elements));
  for (float& value : values) value = static_cast<float>(random.real(-1, 1));
  return DeviceBuffer(values.data(), values.size() * sizeof(float), 0);
}

std::vector<std::string> kernels_that_share_k() {
  std::vector<std::string> kernels;
  for (const std::string& kernel : row_names(Family::kGemm)) {
    if (kernel.find("streamk_") != std::string::npos || kernel.starts_with("splitk_")) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

// A kernel's product in a stream of its own, with a handle and a workspace of its own.
class Lane {
 public:
  Lane(std::string kernel, const DeviceBuffer& a, const DeviceBuffer& b)
      : kernel_(std::move(kernel)),
        handle_(Family::kGemm, kernel_, kWorkspace),
        a_(a),
        b_(b),
        c_(static_cast<size_t>(kM * kN) * sizeof(float)),
        bits_(static_cast<size_t>(kM * kN)) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    EXPECT_EQ(mygemm_set_stream(handle_, stream_), MYGEMM_STATUS_SUCCESS);
  }
  ~Lane() { cudaStreamDestroy(stream_); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const std::string& kernel() const { return kernel_; }

  mygemmStatus_t enqueue() {
    const float alpha = 1.5f, beta = 0;
    require(cudaMemsetAsync(c_.data(), kPoison, c_.bytes(), stream_));
    return mygemm_sgemm(handle_, MYGEMM_OP_N, MYGEMM_OP_N, kM, kN, kK, &alpha, a_.as<float>(), kM,
                        b_.as<float>(), kK, &beta, c_.as<float>(), kM);
  }

  // False where the stream's work has not ended by then.
  bool ends_by(std::chrono::steady_clock::time_point deadline) const {
    cudaError_t error = cudaErrorNotReady;
    while ((error = cudaStreamQuery(stream_)) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    require(error);
    return true;
  }

  // Stores the result of the first call, and compares those of later ones with it.
  bool has_same_bits() {
    c_.download(bits_.data());
    if (expected_.empty()) expected_ = bits_;
    return bits_ == expected_;
  }

 private:
  std::string kernel_;
  Handle handle_;
  const DeviceBuffer &a_, &b_;
  DeviceBuffer c_;
  std::vector<uint32_t> bits_, expected_;
  cudaStream_t stream_ = nullptr;
};

using BusyGpu = BackendTest;

TEST_F(BusyGpu, ProductsThatShareOutKHaveTheSameBits) {
  const DeviceBuffer a = random_matrix(kM * kK, 1), b = random_matrix(kK * kN, 2);
  std::vector<std::unique_ptr<Lane>> lanes;
  // On a free GPU, one after another. This loads the kernels, too: nothing that follows allocates.
  for (const std::string& kernel : kernels_that_share_k()) {
    auto lane = std::make_unique<Lane>(kernel, a, b);
    const mygemmStatus_t status = lane->enqueue();
    if (status == MYGEMM_STATUS_NOT_SUPPORTED) continue;  // this GPU has other kernels
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << kernel << ": " << mygemm_last_error();
    synchronize();
    lanes.push_back(std::move(lane));
  }
  ASSERT_FALSE(lanes.empty());
  for (size_t i = 0; lanes.size() < kStreams; ++i) {
    lanes.push_back(std::make_unique<Lane>(lanes[i]->kernel(), a, b));
    ASSERT_EQ(lanes.back()->enqueue(), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    synchronize();
  }
  for (const auto& lane : lanes) ASSERT_TRUE(lane->has_same_bits());

  for (const int free : {1, 2, 5, 20, multiprocessors()}) {
    Occupier occupier(free);
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(std::to_string(free) + " multiprocessors free, round " + std::to_string(round));
      for (const auto& lane : lanes) ASSERT_EQ(lane->enqueue(), MYGEMM_STATUS_SUCCESS);
      const auto deadline = std::chrono::steady_clock::now() + kRoundLimit;
      for (const auto& lane : lanes) {
        if (lane->ends_by(deadline)) continue;
        occupier.release();
        synchronize();
        FAIL() << lane->kernel() << " did not end before the multiprocessors were released";
      }
      for (const auto& lane : lanes) ASSERT_TRUE(lane->has_same_bits()) << lane->kernel();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    std::printf("%d multiprocessors free: %d rounds in %.1f s\n", free, kRounds, taken.count());
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace mygemm_tests
