// Ops tests: the accuracy that docs/accuracy.md states for softmax and log-softmax, of every kernel
// of the backend, measured in units in the last place against FP64.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/handle.h"
#include "support/memory.h"
#include "support/oracle.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const int64_t kElements = kBuild == Build::kGpu ? 1 << 22 : 1 << 15;  // of a case, roughly
constexpr int64_t kCols[] = {2, 5, 16, 50, 77, 100, 500, 928, 4096, 33001, 66016};

struct Call {
  mygemmSoftmaxMode_t mode;
  int64_t rows, cols;
  float scale = 1;
  mygemmDataType_t in = MYGEMM_R_32F, out = MYGEMM_R_32F;
};

class SoftmaxAccuracyRow : public RowTest {
 protected:
  void SetUp() override {
    RowTest::SetUp();
    tally_ = RowTally(GetParam());
  }
  void TearDown() override {
    if (!IsSkipped()) tally_.finish();
  }

  // The results for x, which is rounded to the type of the input, or nothing where the kernel
  // cannot run the call.
  std::vector<double> run(const Call& call, std::vector<double>* x) {
    Handle handle(Family::kSoftmax, GetParam(), size_t{1} << 20);
    const auto in_bytes = static_cast<size_t>(type_bytes(call.in));
    const auto out_bytes = static_cast<size_t>(type_bytes(call.out));
    std::vector<unsigned char> image(x->size() * in_bytes);
    for (size_t i = 0; i < x->size(); ++i) {
      encode(call.in, (*x)[i], &image[i * in_bytes]);
      (*x)[i] = decode(call.in, &image[i * in_bytes]);
    }
    const DeviceBuffer in(image.data(), image.size(), 0);
    const DeviceBuffer out(x->size() * out_bytes);
    const mygemmStatus_t status =
        mygemm_softmax(handle, call.mode, call.rows, call.cols, call.scale, in.data(), call.in,
                       call.cols, out.data(), call.out, call.cols);
    synchronize();
    const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
      return mygemm_explain_softmax(handle, nullptr, call.mode, call.rows, call.cols, in.data(),
                                    call.in, call.cols, out.data(), call.out, call.cols, text,
                                    capacity, length);
    });
    if (!tally_.ran(status, rows)) return {};
    image.resize(x->size() * out_bytes);
    out.download(image.data());
    std::vector<double> y(x->size());
    for (size_t i = 0; i < y.size(); ++i) y[i] = decode(call.out, &image[i * out_bytes]);
    return y;
  }

  // The largest error of a softmax's result that is not subnormal, in ulps of its type.
  double largest_error(const Call& call, std::vector<double> x) {
    const std::vector<double> y = run(call, &x);
    if (y.empty()) return 0;
    const std::vector<double> expected =
        softmax_reference(call.mode, call.rows, call.cols, call.scale, x).value;
    double largest = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      if (std::fabs(expected[i]) < std::numeric_limits<float>::min()) continue;
      const double error = std::fabs(y[i] - expected[i]) / ulp(call.out, expected[i]);
      if (!(error <= largest)) largest = error;
    }
    return largest;
  }

 private:
  RowTally tally_{""};
};

int64_t rows_of(int64_t cols) { return std::max<int64_t>(2, kElements / cols); }

std::vector<double> random_values(const Call& call, double range) {
  Random random(static_cast<uint64_t>(call.cols));
  std::vector<double> x(static_cast<size_t>(call.rows * call.cols));
  for (double& value : x) value = random.real(-range, range);
  return x;
}

// Exponentials of a GPU's special function unit are off by 2.5 * 2^-24, and so are sums that few of
// them make up. Kernels that hold packs in registers do without, and bundles, whose sums have more
// roundings.
double bound_of(const std::string& kernel, int64_t cols) {
  if (kernel == "bundle") return 5;
  const bool unit = (kernel == "warp" && cols % 4 != 0) || kernel == "wide_cluster" ||
                    kernel == "cluster" || kernel == "split" || kernel == "reread";
  return kBuild == Build::kGpu ? (unit ? 7.5 : 4.5) : 4;
}

TEST_P(SoftmaxAccuracyRow, FewUlps) {
  for (const int64_t cols : kCols) {
    for (const double range : {6.0, 100.0}) {
      const Call call{MYGEMM_SOFTMAX, rows_of(cols), cols};
      EXPECT_LE(largest_error(call, random_values(call, range)), bound_of(GetParam(), cols))
          << cols << " columns in +-" << range;
    }
  }
}

// Correct rounding is within 0.5: results are the second nearest where two are almost as near.
TEST_P(SoftmaxAccuracyRow, SixteenBitsAreRoundedCorrectlyInAllButAFew) {
  for (const int64_t cols : kCols) {
    for (const mygemmDataType_t out : {MYGEMM_R_16F, MYGEMM_R_16BF}) {
      for (const mygemmDataType_t in : {out, MYGEMM_R_32F}) {
        for (const double range : {6.0, 100.0}) {
          const Call call{MYGEMM_SOFTMAX, rows_of(cols), cols, 1, in, out};
          EXPECT_LE(largest_error(call, random_values(call, range)), 0.505)
              << cols << " columns of " << type_name(in) << ", results " << type_name(out)
              << ", in +-" << range;
        }
      }
    }
  }
}

// Scales whose product with log2(e) overflows, or has a denormal low part. Of the smallest ones s
// is within 1e-5 of 0.
TEST_P(SoftmaxAccuracyRow, ScalesOfAnyMagnitude) {
  for (const float scale : {2.3e38f, 2.5e38f, -3.4e38f, 1e36f, 1e-36f, -1e-37f, 3e-39f, 1e-43f}) {
    for (const int64_t cols : {5, 90, 1500, 33001}) {
      Call call{MYGEMM_SOFTMAX, 2, cols, scale};
      std::vector<double> x = random_values(call, 20);
      for (double& value : x) {
        value = std::clamp(value / std::fabs(static_cast<double>(scale)), -3e38, 3e38);
      }
      EXPECT_LE(largest_error(call, x), bound_of(GetParam(), cols))
          << cols << " columns, scale " << scale;
      call.in = call.out = MYGEMM_R_16BF;
      EXPECT_LE(largest_error(call, x), 0.505) << cols << " columns of bf16, scale " << scale;
    }
  }
}

// x - max s / scale overflows, and s does not.
TEST_P(SoftmaxAccuracyRow, ElementsThatAreFurtherApartThanFp32Reaches) {
  for (const float scale : {1e-38f, -1e-38f, 0.1f}) {
    for (const int64_t cols : {5, 90, 1500, 33001}) {
      const Call call{MYGEMM_LOG_SOFTMAX, 2, cols, scale};
      std::vector<double> x(static_cast<size_t>(call.rows * cols));
      for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 3e38 : -3e38;
      EXPECT_LE(largest_error(call, x), 4) << cols << " columns, scale " << scale;
    }
  }
}

TEST_P(SoftmaxAccuracyRow, LargestsThatOverflowGiveNaN) {
  for (const float scale : {3e38f, -3e38f}) {
    for (const double sign : {1.0, -1.0}) {  // every s overflows, to +inf or to -inf
      for (const mygemmSoftmaxMode_t mode : {MYGEMM_SOFTMAX, MYGEMM_LOG_SOFTMAX}) {
        for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
          for (const int64_t cols : {2, 45, 700, 33001}) {
            std::vector<double> x(static_cast<size_t>(cols), 2 * sign);
            x[1] = 3 * sign;
            const std::vector<double> y = run({mode, 1, cols, scale, type, type}, &x);
            EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](double v) { return std::isnan(v); }))
                << cols << " columns of " << type_name(type) << ", scale " << scale;
          }
        }
      }
    }
  }
}

// One column, or one that is not masked, in any place; of the probability of such a one, kernels
// whose factor is a reciprocal in FP32 may lose the last bit.
TEST_P(SoftmaxAccuracyRow, OneElementHasProbabilityOne) {
  for (const mygemmSoftmaxMode_t mode : {MYGEMM_SOFTMAX, MYGEMM_LOG_SOFTMAX}) {
    const bool log = mode == MYGEMM_LOG_SOFTMAX;
    for (const int64_t cols : {1, 7, 45, 700, 33001}) {
      const int64_t rows = cols == 1 ? 2000 : 1 + 3000 / cols;
      const Call call{mode, rows, cols, 0.7f};
      std::vector<double> x = random_values(call, 100);
      for (size_t i = 0; i < x.size(); ++i) {
        const auto c = static_cast<int64_t>(i) % cols;
        if (c != static_cast<int64_t>(i) / cols % cols) x[i] = -kInfinity;
      }
      const std::vector<double> y = run(call, &x);
      for (size_t i = 0; i < y.size(); ++i) {
        const bool masked = std::isinf(x[i]);
        const double expected = masked ? (log ? -kInfinity : 0) : (log ? 0 : 1);
        if (!log && !masked && cols > 1 && y[i] == 1 - 0x1p-24) continue;
        ASSERT_EQ(y[i], expected) << cols << " columns, element " << i << (log ? ", log" : "");
      }
    }
  }
}

TEST_P(SoftmaxAccuracyRow, LogarithmsAreNotPositive) {
  for (const int64_t cols : kCols) {
    for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
      const Call call{MYGEMM_LOG_SOFTMAX, rows_of(cols), cols, 1, type, type};
      std::vector<double> x = random_values(call, 100);
      const std::vector<double> y = run(call, &x);
      EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](double v) { return v <= 0; }))
          << cols << " columns of " << type_name(type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SoftmaxAccuracyRow, ::testing::ValuesIn(row_names(Family::kSoftmax)),
                         row_test_name);

}  // namespace
}  // namespace mygemm_tests
