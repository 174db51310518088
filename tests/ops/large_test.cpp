// Ops tests for a GPU only: products large enough to fill it, against sampled elements in FP64, and
// operands of more than 2^31 elements. Skipped where memory is insufficient.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "support/memory.h"
#include "support/oracle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{256} << 20;
constexpr int kSamples = 300;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random.real(-1, 1));
  return values;
}

DeviceBuffer on_device(const std::vector<float>& values) {
  return DeviceBuffer(values.data(), values.size() * sizeof(float), 0);
}

bool enough_memory(size_t bytes) { return available_bytes() > bytes + (size_t{1} << 30); }

// ---- products ----------------------------------------------------------------------------------

class GemmLarge : public RowTest {};

struct Shape {
  int64_t m, n, k;
};

// C = op(A) op(B), of which kSamples elements and the four corners are compared.
void run_large_gemm(const std::string& row, const Shape& shape, bool ta, bool tb) {
  SCOPED_TRACE(::testing::Message() << "m=" << shape.m << " n=" << shape.n << " k=" << shape.k
                                    << " transa=" << ta << " transb=" << tb);
  const size_t c_bytes = static_cast<size_t>(shape.m * shape.n) * sizeof(float);
  if (!enough_memory(c_bytes + kWorkspace)) GTEST_SKIP() << "not enough GPU memory";
  Handle handle(Family::kGemm, row, kWorkspace);
  const std::vector<float> a = random_floats(shape.m * shape.k, 1);
  const std::vector<float> b = random_floats(shape.k * shape.n, 2);
  const int64_t lda = ta ? shape.k : shape.m;
  const int64_t ldb = tb ? shape.n : shape.k;
  const DeviceBuffer a_buffer = on_device(a);
  const DeviceBuffer b_buffer = on_device(b);
  const DeviceBuffer c_buffer(c_bytes);
  const float alpha = 0.75f;
  const float beta = 0;
  const mygemmStatus_t status =
      mygemm_sgemm(handle, ta ? MYGEMM_OP_T : MYGEMM_OP_N, tb ? MYGEMM_OP_T : MYGEMM_OP_N, shape.m,
                   shape.n, shape.k, &alpha, a_buffer.as<float>(), lda, b_buffer.as<float>(), ldb,
                   &beta, c_buffer.as<float>(), shape.m);
  if (status == MYGEMM_STATUS_NOT_SUPPORTED) return;
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();

  Random random(3);
  Comparison comparison;
  for (int sample = 0; sample < kSamples; ++sample) {
    const bool corner = sample < 4;
    const int64_t i = corner ? (sample % 2) * (shape.m - 1) : random.integer(0, shape.m - 1);
    const int64_t j = corner ? (sample / 2) * (shape.n - 1) : random.integer(0, shape.n - 1);
    float got = 0;
    c_buffer.download(&got, static_cast<size_t>(i + j * shape.m) * sizeof(float), sizeof got);
    double expected = 0;
    double tolerance = 0;
    gemm_element({ta, tb, shape.m, shape.n, shape.k, alpha, a.data(), lda, b.data(), ldb, beta,
                  nullptr, shape.m},
                 i, j, &expected, &tolerance);
    comparison.add(i, j, got, expected, tolerance);
  }
  EXPECT_TRUE(comparison.result());
  EXPECT_TRUE(c_buffer.bands_intact()) << "written outside C";
  EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
}

TEST_P(GemmLarge, SampledElements) {
  for (const Shape& shape :
       {Shape{1024, 1024, 1024}, Shape{2049, 2047, 1025}, Shape{4096, 4096, 512},
        Shape{100003, 65, 63}, Shape{65, 63, 200001}, Shape{1, 70001, 129}, Shape{70001, 1, 129}}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) run_large_gemm(GetParam(), shape, ta, tb);
    }
  }
}

TEST_P(GemmLarge, ResultOfMoreThan2To31Elements) {
  run_large_gemm(GetParam(), {50021, 50023, 3}, false, false);
}

TEST_P(GemmLarge, InputOfMoreThan2To31Elements) {
  // All matrices of the batch are the same, so that host memory holds one, and all results must be
  // equal. Integers, whose sums are exact in any order: the ranges of stream-K divide the tiles of
  // different matrices at different k.
  constexpr int64_t kM = 1024;
  constexpr int64_t kN = 8;
  constexpr int64_t kK = 1024;
  constexpr int64_t kBatch = (int64_t{1} << 31) / (kM * kK) + 3;
  const size_t a_bytes = static_cast<size_t>(kM * kK * kBatch) * sizeof(float);
  if (!enough_memory(a_bytes + kWorkspace)) GTEST_SKIP() << "not enough GPU memory";
  Handle handle(Family::kGemm, GetParam(), kWorkspace);
  std::vector<float> a = random_floats(kM * kK, 4);
  std::vector<float> b = random_floats(kK * kN, 5);
  for (float& x : a) x = std::round(8 * x);
  for (float& x : b) x = std::round(8 * x);
  DeviceBuffer a_buffer(a_bytes);
  const size_t matrix_bytes = a.size() * sizeof(float);
  for (size_t i = 0; i < kBatch; ++i) a_buffer.upload(a.data(), i * matrix_bytes, matrix_bytes);
  const DeviceBuffer b_buffer = on_device(b);
  std::vector<float> c(static_cast<size_t>(kM * kN * kBatch));
  const DeviceBuffer c_buffer(c.size() * sizeof(float));
  const float alpha = 1;
  const float beta = 0;
  const mygemmStatus_t status = mygemm_sgemm_strided_batched(
      handle, MYGEMM_OP_N, MYGEMM_OP_N, kM, kN, kK, &alpha, a_buffer.as<float>(), kM, kM * kK,
      b_buffer.as<float>(), kK, 0, &beta, c_buffer.as<float>(), kM, kM * kN, kBatch);
  if (status == MYGEMM_STATUS_NOT_SUPPORTED) GTEST_SKIP() << mygemm_last_error();
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  c_buffer.download(c.data());
  const size_t one = static_cast<size_t>(kM * kN);
  for (size_t i = 1; i < kBatch; ++i) {
    ASSERT_EQ(std::memcmp(&c[i * one], c.data(), one * sizeof(float)), 0) << "matrix " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, GemmLarge, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);

// ---- softmax and transposes: a pattern repeated through memory ---------------------------------

constexpr int64_t kPatternElements = 1000003;  // a prime: no row starts where another does

// Fills the buffer with the pattern over and over; element e is pattern[e % kPatternElements].
void fill_with(DeviceBuffer* buffer, const std::vector<unsigned char>& pattern) {
  for (size_t at = 0; at < buffer->bytes(); at += pattern.size()) {
    buffer->upload(pattern.data(), at, std::min(pattern.size(), buffer->bytes() - at));
  }
}

class SoftmaxLarge : public RowTest {};

TEST_P(SoftmaxLarge, MoreThan2To31Elements) {
  struct Rows {
    int64_t rows, cols;
  };
  for (const Rows& shape : {Rows{21481, 100003}, Rows{2200003, 1000}}) {
    const size_t elements = static_cast<size_t>(shape.rows * shape.cols);
    if (!enough_memory(2 * 2 * elements)) GTEST_SKIP() << "not enough GPU memory";
    Handle handle(Family::kSoftmax, GetParam(), 0);
    std::vector<unsigned char> pattern(2 * kPatternElements);
    Random random(6);
    for (size_t e = 0; e < kPatternElements; ++e) {
      encode(MYGEMM_R_16F, random.real(-4, 4), &pattern[2 * e]);
    }
    DeviceBuffer x(2 * elements);
    fill_with(&x, pattern);
    const DeviceBuffer y(2 * elements);
    const mygemmStatus_t status =
        mygemm_softmax(handle, MYGEMM_LOG_SOFTMAX, shape.rows, shape.cols, 1, x.data(),
                       MYGEMM_R_16F, shape.cols, y.data(), MYGEMM_R_16BF, shape.cols);
    if (status == MYGEMM_STATUS_NOT_SUPPORTED) continue;
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    synchronize();
    for (const int64_t r : {int64_t{0}, shape.rows / 3, shape.rows / 2, shape.rows - 1}) {
      std::vector<double> values(static_cast<size_t>(shape.cols));
      for (size_t c = 0; c < values.size(); ++c) {
        const int64_t element = (r * shape.cols + static_cast<int64_t>(c)) % kPatternElements;
        values[c] = decode(MYGEMM_R_16F, &pattern[static_cast<size_t>(2 * element)]);
      }
      std::vector<unsigned char> row(2 * values.size());
      y.download(row.data(), static_cast<size_t>(2 * r * shape.cols), row.size());
      EXPECT_TRUE(compare(MYGEMM_R_16BF, row.data(), 1, shape.cols, shape.cols,
                          softmax_reference(MYGEMM_LOG_SOFTMAX, 1, shape.cols, 1, values)))
          << "row " << r << " of " << shape.rows;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SoftmaxLarge, ::testing::ValuesIn(row_names(Family::kSoftmax)),
                         row_test_name);

using SoftmaxLong = BackendTest;

// Three finite numbers in a row of more than 2^31: their softmax is exact. By the plan's choice: a
// kernel with one warp a row takes minutes.
TEST_F(SoftmaxLong, RowOfMoreThan2To31Elements) {
  constexpr int64_t kCols = (int64_t{1} << 31) + 77;
  constexpr size_t kBytes = 2 * static_cast<size_t>(kCols);
  if (!enough_memory(kBytes)) GTEST_SKIP() << "not enough GPU memory";
  std::vector<unsigned char> masked(2 * kPatternElements);
  for (size_t e = 0; e < kPatternElements; ++e) {
    encode(MYGEMM_R_16F, -std::numeric_limits<double>::infinity(), &masked[2 * e]);
  }
  DeviceBuffer x(kBytes);
  fill_with(&x, masked);
  const int64_t columns[] = {5, kCols / 2, kCols - 1};
  unsigned char two[2];
  encode(MYGEMM_R_16F, 2, two);
  for (const int64_t c : columns) x.upload(two, static_cast<size_t>(2 * c), 2);
  Handle handle;
  const mygemmStatus_t status = mygemm_softmax(handle, MYGEMM_SOFTMAX, 1, kCols, 1, x.data(),
                                               MYGEMM_R_16F, kCols, x.data(), MYGEMM_R_16F, kCols);
  ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  for (const int64_t c : columns) {
    unsigned char neighbours[4];
    x.download(neighbours, static_cast<size_t>(2 * (c - 1)), 4);
    EXPECT_EQ(decode(MYGEMM_R_16F, neighbours), 0.0) << "column " << c - 1;
    EXPECT_NEAR(decode(MYGEMM_R_16F, neighbours + 2), 1.0 / 3, 0x1p-12) << "column " << c;
  }
}

class TransposeLarge : public RowTest {
 protected:
  void run(int64_t element_size, int64_t rows, int64_t cols, bool in_place) {
    const size_t bytes = static_cast<size_t>(rows * cols * element_size);
    if (!enough_memory(2 * bytes)) GTEST_SKIP() << "not enough GPU memory";
    Handle handle(Family::kTranspose, GetParam(), 0);
    std::vector<unsigned char> pattern(static_cast<size_t>(kPatternElements * element_size));
    Random random(7);
    for (unsigned char& byte : pattern) byte = static_cast<unsigned char>(random.bits());
    DeviceBuffer in(bytes);
    fill_with(&in, pattern);
    const DeviceBuffer separate_out(in_place ? 0 : bytes);
    const DeviceBuffer& out = in_place ? in : separate_out;
    const mygemmStatus_t status = mygemm_transpose(handle, static_cast<size_t>(element_size), rows,
                                                   cols, in.data(), cols, out.data(), rows);
    if (status == MYGEMM_STATUS_NOT_SUPPORTED) GTEST_SKIP() << mygemm_last_error();
    ASSERT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
    synchronize();
    std::vector<unsigned char> row(static_cast<size_t>(rows * element_size));
    for (const int64_t c : {int64_t{0}, cols / 3, cols / 2, cols - 2, cols - 1}) {
      out.download(row.data(), static_cast<size_t>(c) * row.size(), row.size());
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t element = (r * cols + c) % kPatternElements;
        ASSERT_EQ(std::memcmp(&row[static_cast<size_t>(r * element_size)],
                              &pattern[static_cast<size_t>(element * element_size)],
                              static_cast<size_t>(element_size)),
                  0)
            << "out[" << c << "][" << r << "]";
      }
    }
    EXPECT_TRUE(out.bands_intact()) << "written outside out";
  }
};

// Larger than the caches: kernels use other instructions than for small matrices.
TEST_P(TransposeLarge, MoreThanTheCacheOfEverySize) {
  for (const int64_t size : {1, 2, 4, 8, 16}) run(size, (int64_t{1} << 22) / size, 64, false);
}
TEST_P(TransposeLarge, MoreThan2To31Elements) { run(1, 50021, 43003, false); }
TEST_P(TransposeLarge, MoreThan2To31ElementsOfTwoBytes) { run(2, 1100003, 2001, false); }
TEST_P(TransposeLarge, MoreThan2To31ElementsInPlace) { run(1, 46400, 46400, true); }

INSTANTIATE_TEST_SUITE_P(Rows, TransposeLarge, ::testing::ValuesIn(row_names(Family::kTranspose)),
                         row_test_name);

}  // namespace
}  // namespace mygemm_tests
