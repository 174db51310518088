// Ops tests: the same inputs give the same bits, call after call, from a fresh handle, and from
// memory elsewhere with the same alignment.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "repeated_product.h"
#include "support/handle.h"
#include "support/memory.h"
#include "support/oracle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

const int kRepeats = kBuild == Build::kGpu ? 20 : 3;
constexpr size_t kWorkspace = size_t{36} << 20;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.real(-2, 2));
  return values;
}

// Calls run(handle, output) again and again and compares the outputs; `count` floats are written.
// False where the kernel cannot run the problem.
template <class F>
bool expect_same_bits(Family family, const std::string& row, int64_t count, F run) {
  std::vector<uint32_t> first;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Handle handle(family, row, kWorkspace);
    const DeviceBuffer output(static_cast<size_t>(count) * sizeof(float));
    const mygemmStatus_t status = run(handle, output.as<float>());
    if (status == MYGEMM_STATUS_NOT_SUPPORTED) return false;
    EXPECT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    synchronize();
    std::vector<uint32_t> bits(static_cast<size_t>(count));
    output.download(bits.data());
    if (repeat == 0) {
      first = bits;
    } else {
      EXPECT_TRUE(bits == first) << "call " << repeat + 1;
    }
  }
  return true;
}

class GemmBits : public RowTest {};
class SoftmaxBits : public RowTest {};

TEST_P(GemmBits, AreTheSameEveryTime) {
  const int64_t m = kBuild == Build::kGpu ? 500 : 70;
  const bool thin = GetParam().starts_with("thin_");
  const int64_t n = thin ? 1 : kBuild == Build::kGpu ? 129 : 65;
  const int64_t k = kBuild == Build::kGpu ? 5001 : 600;  // deep: kernels may split it
  const std::vector<float> a = random_floats(m * k, 1);
  const std::vector<float> b = random_floats(k * n, 2);
  const DeviceBuffer a_buffer(a.data(), a.size() * sizeof(float), 0);
  const DeviceBuffer b_buffer(b.data(), b.size() * sizeof(float), 0);
  const float alpha = 1.5f;
  const float beta = 0;
  const auto product = [&](mygemmHandle_t handle, float* c) {
    return mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, k, &alpha, a_buffer.as<float>(), m,
                        b_buffer.as<float>(), k, &beta, c, m);
  };
  if (!expect_same_bits(Family::kGemm, GetParam(), m * n, product)) {
    GTEST_SKIP() << mygemm_last_error();
  }
}

// Each product reads the result of the product before it, and overwrites an operand of that one. A
// grid may begin while the one before it in the stream still runs, and must wait for it.
TEST_P(GemmBits, OneProductAfterAnotherIsTheSameAsWithWaitsBetween) {
  const int64_t m = kBuild == Build::kGpu ? 1030 : 40;
  const int64_t n = GetParam().starts_with("thin_") ? 1 : kBuild == Build::kGpu ? 300 : 20;
  constexpr int kProducts = 8;
  const std::vector<float> a = random_floats(m * m, 1);
  const std::vector<float> x = random_floats(m * n, 2);
  const DeviceBuffer a_buffer(a.data(), a.size() * sizeof(float), 0);
  DeviceBuffer buffers[2] = {DeviceBuffer(x.size() * sizeof(float)),
                             DeviceBuffer(x.size() * sizeof(float))};
  const float alpha = 1 / std::sqrt(static_cast<float>(m));  // keeps the magnitude of results
  const float beta = 0;
  Handle handle(Family::kGemm, GetParam(), kWorkspace);
  std::vector<uint32_t> expected;
  for (const bool waits : {true, false}) {
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      buffers[0].upload(x.data());
      for (int i = 0; i < kProducts; ++i) {
        const mygemmStatus_t status =
            mygemm_sgemm(handle, MYGEMM_OP_N, MYGEMM_OP_N, m, n, m, &alpha, a_buffer.as<float>(), m,
                         buffers[i % 2].as<float>(), m, &beta, buffers[1 - i % 2].as<float>(), m);
        if (status == MYGEMM_STATUS_NOT_SUPPORTED) GTEST_SKIP() << mygemm_last_error();
        ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
        if (waits) synchronize();
      }
      synchronize();
      std::vector<uint32_t> bits(x.size());
      buffers[kProducts % 2].download(bits.data());
      if (expected.empty()) expected = bits;
      ASSERT_TRUE(bits == expected) << (waits ? "with waits, " : "without, ") << repeat;
    }
  }
}

TEST_P(SoftmaxBits, AreTheSameEveryTime) {
  bool has_run = false;
  for (const int64_t cols : {45, 125, 33001}) {
    const int64_t rows = (kBuild == Build::kGpu ? 375000 : 1000) / cols + 2;
    const std::vector<float> x = random_floats(rows * cols, 3);
    const DeviceBuffer in(x.data(), x.size() * sizeof(float), 0);
    const auto softmax = [&](mygemmHandle_t handle, float* y) {
      return mygemm_softmax(handle, MYGEMM_SOFTMAX, rows, cols, 1, in.data(), MYGEMM_R_32F, cols, y,
                            MYGEMM_R_32F, cols);
    };
    has_run |= expect_same_bits(Family::kSoftmax, GetParam(), rows * cols, softmax);
  }
  if (!has_run) GTEST_SKIP() << mygemm_last_error();
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmBits, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);
INSTANTIATE_TEST_SUITE_P(Rows, SoftmaxBits, ::testing::ValuesIn(row_names(Family::kSoftmax)),
                         row_test_name);

// ---- softmax: the bits of a row do not depend on how many rows there are ------------------------

struct SoftmaxCall {
  int64_t rows, cols;
  mygemmDataType_t type;
  mygemmSoftmaxMode_t mode;
  bool backward;
};

// Random elements of the call's type, for all its rows.
DeviceBuffer random_elements(const SoftmaxCall& call, uint64_t seed) {
  const std::vector<float> values = random_floats(call.rows * call.cols, seed);
  const auto bytes = static_cast<size_t>(type_bytes(call.type));
  std::vector<unsigned char> elements(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i) encode(call.type, 9 * values[i], &elements[i * bytes]);
  return DeviceBuffer(elements.data(), elements.size(), 0);
}

// The bits of `rows` rows from `first` on, by the forced kernel or by the plan's choice. y of a
// gradient is whatever `in` holds.
std::vector<unsigned char> bits_of_rows(const SoftmaxCall& call, const DeviceBuffer& in,
                                        const DeviceBuffer& dy, const DeviceBuffer& out,
                                        const std::string& forced, int64_t first, int64_t rows) {
  const auto row_bytes = static_cast<size_t>(call.cols * type_bytes(call.type));
  const size_t offset = static_cast<size_t>(first) * row_bytes;
  Handle handle(Family::kSoftmax, forced, size_t{1} << 20);
  const void* x = in.as<char>() + offset;
  void* result = out.as<char>() + offset;
  const mygemmStatus_t status =
      call.backward ? mygemm_softmax_backward(handle, call.mode, rows, call.cols, 1, x, call.type,
                                              call.cols, dy.as<char>() + offset, call.type,
                                              call.cols, result, call.type, call.cols)
                    : mygemm_softmax(handle, call.mode, rows, call.cols, 1, x, call.type, call.cols,
                                     result, call.type, call.cols);
  synchronize();
  std::vector<unsigned char> bits;
  if (status == MYGEMM_STATUS_NOT_SUPPORTED) return bits;
  EXPECT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  bits.resize(static_cast<size_t>(rows) * row_bytes);
  out.download(bits.data(), offset, bits.size());
  return bits;
}

// Rows alone and a few together, by the plan's choice, and all rows by each kernel that may be
// chosen for some number of wide rows.
void expect_bits_of_columns_alone(const SoftmaxCall& call) {
  const DeviceBuffer in = random_elements(call, 5);
  const DeviceBuffer dy = random_elements(call, 6);
  const DeviceBuffer out(static_cast<size_t>(call.rows * call.cols * type_bytes(call.type)));
  const auto all = bits_of_rows(call, in, dy, out, "", 0, call.rows);
  const size_t row_bytes = all.size() / static_cast<size_t>(call.rows);
  for (const int64_t rows : {int64_t{1}, int64_t{2}, std::max(call.rows * 4 / 9, int64_t{1})}) {
    for (const int64_t first : {int64_t{0}, (call.rows - rows) / 2, call.rows - rows}) {
      const auto some = bits_of_rows(call, in, dy, out, "", first, rows);
      EXPECT_TRUE(std::equal(some.begin(), some.end(),
                             all.begin() + static_cast<std::ptrdiff_t>(first * row_bytes)))
          << rows << " rows from " << first << " on, of " << call.cols << " columns";
    }
  }
  for (const char* name :
       {"block", "block_cluster", "wide_cluster", "cluster", "split", "reread"}) {
    if (kBuild == Build::kHost || call.cols < 9000) continue;
    for (const int64_t rows : {int64_t{1}, call.rows}) {
      const auto forced = bits_of_rows(call, in, dy, out, name, 0, rows);
      EXPECT_TRUE(std::equal(forced.begin(), forced.end(), all.begin()))
          << name << ", " << rows << " x " << call.cols;
    }
  }
}

using SoftmaxRowBits = BackendTest;

TEST_F(SoftmaxRowBits, DoNotDependOnTheNumberOfRows) {
  const int64_t many = kBuild == Build::kGpu ? 300 : 5;
  for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
    for (const int64_t cols : {5, 77, 1001, 4096, 19000, 33001, 66016}) {
      const auto mode = cols == 1001 ? MYGEMM_LOG_SOFTMAX : MYGEMM_SOFTMAX;
      SCOPED_TRACE(type_name(type));
      // Enough for blocks to work on several passes of short rows.
      const int64_t rows = kBuild == Build::kGpu && cols == 77 ? 60000 : many;
      expect_bits_of_columns_alone({rows, cols, type, mode, false});
    }
  }
}

// On an H200, 66 rows of 54131 columns run in clusters whose warps hold tiles in registers, and 149
// rows in others: two kernels, of which one rounded products that the other multiplied and added.
TEST_F(SoftmaxRowBits, OfGradientsDoNotEither) {
  const int64_t many = kBuild == Build::kGpu ? 149 : 3;
  for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
    for (const mygemmSoftmaxMode_t mode : {MYGEMM_SOFTMAX, MYGEMM_LOG_SOFTMAX}) {
      for (const int64_t cols : {77, 9001, 54131}) {
        SCOPED_TRACE(std::string(type_name(type)) + (mode == MYGEMM_LOG_SOFTMAX ? " log" : ""));
        expect_bits_of_columns_alone({many, cols, type, mode, true});
      }
    }
  }
}

// As users call: kernels of the plan's choice, one handle for all. streams_graphs_test.cpp repeats
// the same products from a graph.
using PlannedBits = BackendTest;

TEST_F(PlannedBits, AreTheSameEveryTime) {
  Handle handle(kWorkspace);
  for (const RepeatedCase& shape : products_to_repeat()) {
    SCOPED_TRACE(shape.text());
    RepeatedProduct product(shape);
    product.repeat(kManyRuns, [&] { product.enqueue(handle); });
  }
}

// The result of one product of a batch does not depend on the others.
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
