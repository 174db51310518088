// Tests of the drop-in BLAS on the emulator: products cut in every way, and failures of CUDA at
// every point of a product.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "blas/pipeline.h"
#include "memory.h"
#include "support/random.h"

namespace {
int records_until_failure = -1;  // -1: never
size_t largest_allocation = SIZE_MAX;
}  // namespace

// In the place of the emulator's, whose streams hold nothing, so that there is nothing to record.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (records_until_failure == 0) return cudaErrorLaunchFailure;
  if (records_until_failure > 0) --records_until_failure;
  return cudaSuccess;
}

// The emulator's, with a device as full as a test wants it.
cudaError_t cudaMalloc(void** data, size_t bytes) {
  *data = bytes <= largest_allocation ? emulator::allocate(bytes) : nullptr;
  return *data ? cudaSuccess : cudaErrorMemoryAllocation;
}

namespace mygemm::blas {
namespace {

using mygemm_tests::Random;

constexpr PipelineLimits kRoomy{{1'000'000, 8, 4}, 4096, 1 << 20};
constexpr PipelineLimits kCutsK{{4'000, 8, 4}, 100, 0};
constexpr PipelineLimits kCutsAll{{12'000, 8, 4}, 50, 0};

// A column-major matrix of random values, NaN between its columns.
std::vector<float> random_matrix(int64_t rows, int64_t cols, int64_t ld, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(ld * cols),
                            std::numeric_limits<float>::quiet_NaN());
  Random random(seed);
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      values[static_cast<size_t>(i + j * ld)] = static_cast<float>(random.real(-1, 1));
    }
  }
  return values;
}

// A product with memory of its own.
class Owned {
 public:
  Owned(bool transa, bool transb, int64_t m, int64_t n, int64_t k, float beta)
      : a_(random_matrix(transa ? k : m, transa ? m : k, (transa ? k : m) + 2, 1)),
        b_(random_matrix(transb ? n : k, transb ? k : n, (transb ? n : k) + 1, 2)),
        c_(random_matrix(m, n, m + 3, 3)),
        before_(c_),
        product_{transa,    transb,
                 m,         n,
                 k,         1.25f,
                 a_.data(), (transa ? k : m) + 2,
                 b_.data(), (transb ? n : k) + 1,
                 beta,      c_.data(),
                 m + 3} {}

  const Product& product() const { return product_; }
  bool unchanged() const {
    return std::memcmp(c_.data(), before_.data(), c_.size() * sizeof(float)) == 0;
  }
  // Counts elements that are off, and gaps that have been written.
  int wrong() const {
    int count = 0;
    for (int64_t j = 0; j < product_.n; ++j) {
      for (int64_t i = 0; i < product_.ldc; ++i) {
        const float value = c_[static_cast<size_t>(i + j * product_.ldc)];
        const bool right = i < product_.m ? std::abs(value - expected(i, j)) <= 1e-5 * product_.k
                                          : std::isnan(value);
        count += right ? 0 : 1;
      }
    }
    return count;
  }

 private:
  double expected(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t l = 0; l < product_.k; ++l) {
      sum += static_cast<double>(*product_.a_at(i, l)) * *product_.b_at(l, j);
    }
    const double before = before_[static_cast<size_t>(i + j * product_.ldc)];
    return product_.alpha * sum + (product_.beta == 0 ? 0 : product_.beta * before);
  }

  std::vector<float> a_, b_, c_, before_;
  Product product_;
};

void expect_cut(const Product& product, const PipelineLimits& limits, bool m, bool n, bool k) {
  const auto tiling = choose_tiling(product, limits.tiling);
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->blocks_m > 1, m);
  EXPECT_EQ(tiling->blocks_n > 1, n);
  EXPECT_EQ(tiling->blocks_k > 1, k);
}

TEST(BlasPipeline, ComputesProductsCutInEveryWay) {
  const Owned sample(false, false, 70, 90, 50, 0);
  expect_cut(sample.product(), kRoomy, false, true, false);
  expect_cut(sample.product(), kCutsK, true, true, true);
  for (const PipelineLimits& limits : {kRoomy, kCutsAll, kCutsK}) {
    Pipeline pipeline(limits);
    for (const bool transa : {false, true}) {
      for (const bool transb : {false, true}) {
        for (const float beta : {0.0f, 1.0f, -0.5f}) {
          Owned wide(transa, transb, 70, 90, 50, beta);
          EXPECT_TRUE(pipeline.multiply(wide.product()));
          EXPECT_EQ(wide.wrong(), 0) << transa << transb << beta;
          Owned tall(transa, transb, 101, 33, 64, beta);
          EXPECT_TRUE(pipeline.multiply(tall.product()));
          EXPECT_EQ(tall.wrong(), 0) << transa << transb << beta;
        }
      }
    }
  }
}

TEST(BlasPipeline, ComputesProductsOfOneRowOrColumnOrStep) {
  Pipeline pipeline(kCutsAll);
  for (const auto& [m, n, k] : {std::array{1, 80, 40}, {80, 1, 40}, {40, 40, 1}, {1, 1, 1}}) {
    Owned product(false, true, m, n, k, 2);
    EXPECT_TRUE(pipeline.multiply(product.product()));
    EXPECT_EQ(product.wrong(), 0) << m << ' ' << n << ' ' << k;
  }
}

TEST(BlasPipeline, DoesNotReadCWhereBetaIsZero) {
  Pipeline pipeline(kCutsAll);
  Owned product(false, false, 70, 90, 50, 0);
  for (int64_t j = 0; j < 90; ++j) {
    for (int64_t i = 0; i < 70; ++i) {
      product.product().c[i + j * product.product().ldc] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  EXPECT_TRUE(pipeline.multiply(product.product()));
  EXPECT_EQ(product.wrong(), 0);
}

TEST(BlasPipeline, GivesUpWhereMemoryIsTooSmallAndStaysUsable) {
  Pipeline pipeline({{1'500, 8, 4}, 100, 0});
  Owned large(false, false, 70, 90, 50, 1);
  EXPECT_FALSE(pipeline.multiply(large.product()));
  EXPECT_TRUE(large.unchanged());
  EXPECT_FALSE(pipeline.broken());
  Owned small(false, false, 8, 8, 8, 1);
  EXPECT_TRUE(pipeline.multiply(small.product()));
  EXPECT_EQ(small.wrong(), 0);
}

TEST(BlasPipeline, TakesSmallerTilesWhereDeviceMemoryIsTaken) {
  Pipeline pipeline(kRoomy);
  Owned product(false, false, 70, 90, 50, 1);  // 71 KiB uncut
  largest_allocation = 40'000;
  EXPECT_TRUE(pipeline.multiply(product.product()));
  largest_allocation = 1'000;
  Owned another(false, false, 90, 70, 50, 1);
  EXPECT_FALSE(pipeline.multiply(another.product()));
  EXPECT_TRUE(another.unchanged());
  largest_allocation = SIZE_MAX;
  EXPECT_TRUE(pipeline.multiply(another.product()));
  EXPECT_EQ(product.wrong(), 0);
  EXPECT_EQ(another.wrong(), 0);
}

// Whatever fails, C is either as it was or complete.
TEST(BlasPipeline, LeavesTheRestToTheHostWhereCudaFails) {
  int untouched = 0;
  int finished_by_host = 0;
  for (int records = 0;; ++records) {
    Pipeline pipeline({{5'000, 8, 4}, 300, 0});
    Owned product(false, true, 40, 48, 24, 0.5f);
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

}  // namespace
}  // namespace mygemm::blas
