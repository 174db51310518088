// Ops tests: the same inputs give the same bits, call after call, from a fresh handle, and from
// memory elsewhere with the same alignment.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr int kRepeats = kBuild == Build::kGpu ? 20 : 3;
constexpr size_t kWorkspace = size_t{8} << 20;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.real(-2, 2));
  return values;
}

// Calls run(handle, output) again and again and compares the outputs; `count` floats are written.
// Stops where the row cannot run the problem.
template <class F>
void expect_same_bits(Family family, const std::string& row, int64_t count, F run) {
  std::vector<uint32_t> first;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Handle handle(family, row, kWorkspace);
    const DeviceBuffer output(static_cast<size_t>(count) * sizeof(float));
    const mygemmStatus_t status = run(handle, output.as<float>());
    if (status == MYGEMM_STATUS_NOT_SUPPORTED) GTEST_SKIP() << mygemm_last_error();
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    synchronize();
    std::vector<uint32_t> bits(static_cast<size_t>(count));
    output.download(bits.data());
    if (repeat == 0) {
      first = bits;
    } else {
      EXPECT_TRUE(bits == first) << "call " << repeat + 1;
    }
  }
}

class GemmBits : public RowTest {};
class SoftmaxBits : public RowTest {};

TEST_P(GemmBits, AreTheSameEveryTime) {
  const int64_t m = kBuild == Build::kGpu ? 500 : 70;
  const int64_t n = kBuild == Build::kGpu ? 129 : 65;
  const int64_t k = kBuild == Build::kGpu ? 5001 : 600;  // deep: rows may split it
  const std::vector<float> a = random_floats(m * k, 1);
  const std::vector<float> b = random_floats(k * n, 2);
  const DeviceBuffer a_buffer(a.data(), a.size() * sizeof(float), 0);
  const DeviceBuffer b_buffer(b.data(), b.size() * sizeof(float), 0);
  const float alpha = 1.5f;
  const float beta = 0;
  expect_same_bits(Family::kGemm, GetParam(), m * n, [&](mygemmHandle_t handle, float* c) {
    return mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, &alpha, a_buffer.as<float>(), m,
                        b_buffer.as<float>(), k, &beta, c, m);
  });
}

TEST_P(SoftmaxBits, AreTheSameEveryTime) {
  const int64_t rows = kBuild == Build::kGpu ? 3000 : 8;
  const int64_t cols = 125;  // what every row of the family takes, and no power of two
  const std::vector<float> x = random_floats(rows * cols, 3);
  const DeviceBuffer in(x.data(), x.size() * sizeof(float), 0);
  expect_same_bits(Family::kSoftmax, GetParam(), rows * cols, [&](mygemmHandle_t handle, float* y) {
    return mygemm_softmax(handle, MYGEMM_SOFTMAX, rows, cols, 1, in.data(), MYGEMM_R_32F, cols, y,
                          MYGEMM_R_32F, cols);
  });
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmBits, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);
INSTANTIATE_TEST_SUITE_P(Rows, SoftmaxBits, ::testing::ValuesIn(row_names(Family::kSoftmax)),
                         row_test_name);

// The result of one product of a batch does not depend on its company.
using Batch = BackendTest;

TEST_F(Batch, OfEqualMatricesGivesEqualBits) {
  constexpr int64_t kM = 66;
  constexpr int64_t kK = 40;
  constexpr int64_t kBatch = 5;
  const std::vector<float> a = random_floats(kM * kK, 4);
  const DeviceBuffer a_buffer(a.data(), a.size() * sizeof(float), 0);
  const DeviceBuffer c_buffer(kM * kM * kBatch * sizeof(float));
  const float alpha = 1;
  const float beta = 0;
  Handle handle(kWorkspace);
  ASSERT_EQ(mygemm_sgemm_strided_batched(handle, MYGEMM_OP_N, MYGEMM_OP_T, kM, kM, kK, &alpha,
                                         a_buffer.as<float>(), kM, 0, a_buffer.as<float>(), kM, 0,
                                         &beta, c_buffer.as<float>(), kM, kM * kM, kBatch),
            MYGEMM_STATUS_SUCCESS);
  synchronize();
  std::vector<uint32_t> bits(kM * kM * kBatch);
  c_buffer.download(bits.data());
  for (size_t i = kM * kM; i < bits.size(); ++i) ASSERT_EQ(bits[i], bits[i - kM * kM]) << i;
}

}  // namespace
}  // namespace mygemm_tests
