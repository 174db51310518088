// ABI tests: threads. Each with a handle of its own, or one handle in turn; errors are per thread.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr int kThreads = 6;
constexpr int kRounds = 20;
constexpr int64_t kExtent = 60;

std::vector<float> random_matrix(uint64_t seed) {
  Random random(seed);
  std::vector<float> matrix(kExtent * kExtent);
  for (float& value : matrix) value = static_cast<float>(random.real(-1, 1));
  return matrix;
}

std::vector<float> square(mygemmHandle_t handle, const std::vector<float>& a) {
  const float one = 1;
  const float zero = 0;
  std::vector<float> c(a.size());
  EXPECT_EQ(mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_T, kExtent, kExtent, kExtent, &one,
                         a.data(), kExtent, a.data(), kExtent, &zero, c.data(), kExtent),
            MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(mygemm_softmax(handle, MYGEMM_SOFTMAX, kExtent, kExtent, 0.5f, c.data(), MYGEMM_R_32F,
                           kExtent, c.data(), MYGEMM_R_32F, kExtent),
            MYGEMM_STATUS_SUCCESS);
  EXPECT_EQ(mygemm_transpose(handle, 4, kExtent, kExtent, c.data(), kExtent, c.data(), kExtent),
            MYGEMM_STATUS_SUCCESS);
  return c;
}

TEST(Threads, WithTheirOwnHandlesGetTheSameResults) {
  const std::vector<float> a = random_matrix(1);
  Handle handle;
  const std::vector<float> expected = square(handle, a);
  std::vector<int> equal(kThreads, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        Handle own;  // created and destroyed while others compute
        equal[t] += square(own, a) == expected ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : equal) EXPECT_EQ(count, kRounds);
}

TEST(Threads, MayUseOneHandleInTurn) {
  const std::vector<float> a = random_matrix(2);
  Handle handle;
  const std::vector<float> expected = square(handle, a);
  for (int t = 0; t < kThreads; ++t) {
    bool equal = false;
    std::thread([&] { equal = square(handle, a) == expected; }).join();
    EXPECT_TRUE(equal);
  }
}

TEST(Threads, HaveErrorsOfTheirOwn) {
  EXPECT_EQ(mygemm_create(nullptr), MYGEMM_STATUS_INVALID_VALUE);
  const std::string mine = mygemm_last_error();
  EXPECT_FALSE(mine.empty());
  std::string at_first;
  std::string afterwards;
  std::thread([&] {
    at_first = mygemm_last_error();
    EXPECT_EQ(mygemm_set_stream(nullptr, nullptr), MYGEMM_STATUS_NOT_INITIALIZED);
    afterwards = mygemm_last_error();
  }).join();
  EXPECT_TRUE(at_first.empty());
  EXPECT_FALSE(afterwards.empty());
  EXPECT_EQ(mygemm_last_error(), mine);
}

}  // namespace
}  // namespace mygemm_tests
