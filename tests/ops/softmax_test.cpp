// Ops tests of softmax, log-softmax and their gradients: every kernel of the backend forced on
// every kind of shape, type and layout, and the properties that all kernels share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "softmax_case.h"
#include "support/handle.h"
#include "support/memory.h"

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr mygemmDataType_t kTypes[] = {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF};
constexpr mygemmSoftmaxMode_t kModes[] = {MYGEMM_SOFTMAX, MYGEMM_LOG_SOFTMAX};

struct Shape {
  int64_t rows, cols;
};

// Columns around a warp (32) and around the capacity of a warp and of a block, one, prime; many
// rows.
constexpr Shape kShapes[] = {{1, 1},   {5, 2},   {3, 31},   {4, 32},   {3, 33},   {130, 7},
                             {3, 64},  {2, 127}, {2, 128},  {3, 129},  {2, 255},  {2, 257},
                             {9, 509}, {1, 512}, {2, 1023}, {1, 1025}, {2, 2049}, {1, 4099}};

// Wider than the registers of a block hold, for one type or for all of them.
constexpr Shape kWideShapes[] = {{3, 33001}, {2, 66016}};

class SoftmaxRow : public RowTest {
 protected:
  void run(const std::vector<SoftmaxCase>& cases) {
    Handle handle(Family::kSoftmax, GetParam(), size_t{1} << 20);
    RowTally tally(GetParam());
    for (const SoftmaxCase& softmax : cases) {
      run_softmax(handle, softmax, &tally);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

// Each case forward and backward, as softmax and as log-softmax.
std::vector<SoftmaxCase> in_all_modes(const std::vector<SoftmaxCase>& cases) {
  std::vector<SoftmaxCase> all;
  uint64_t seed = 1;
  for (const bool backward : {false, true}) {
    for (const mygemmSoftmaxMode_t mode : kModes) {
      for (SoftmaxCase softmax : cases) {
        softmax.mode = mode;
        softmax.backward = backward;
        softmax.seed = seed++;
        all.push_back(softmax);
      }
    }
  }
  return all;
}

TEST_P(SoftmaxRow, ShapesAndLayouts) {
  std::vector<SoftmaxCase> cases;
  int64_t number = 0;
  for (const Shape& shape : kShapes) {
    ++number;
    for (const int64_t padding : {0, 1, 8}) {
      // Emulated blocks of 1024 threads are slow: one padding for each shape there.
      if (kBuild == Build::kEmulated && number % 3 != padding % 3) continue;
      SoftmaxCase softmax;
      softmax.rows = shape.rows;
      softmax.cols = shape.cols;
      softmax.padding = padding;
      softmax.offset = padding == 1 ? 1 : 0;
      cases.push_back(softmax);
    }
  }
  for (const Shape& shape : kWideShapes) {
    SoftmaxCase softmax;
    softmax.rows = shape.rows;
    softmax.cols = shape.cols;
    cases.push_back(softmax);
    softmax.padding = 3;
    softmax.offset = 1;
    cases.push_back(softmax);
  }
  run(in_all_modes(cases));
}

// More rows than clusters: each cluster takes several, one after another.
TEST_P(SoftmaxRow, ManyWideRows) {
  SoftmaxCase softmax;
  softmax.rows = kBuild == Build::kGpu ? 500 : 9;
  softmax.cols = 33001;
  std::vector<SoftmaxCase> cases;
  for (const bool backward : {false, true}) {
    softmax.backward = backward;
    cases.push_back(softmax);
  }
  run(cases);
}

// Few rows, which several blocks may share; the last of them have no part of some.
TEST_P(SoftmaxRow, FewRowsOfMediumLength) {
  if (!GetParam().starts_with("block")) GTEST_SKIP() << "rows for registers of blocks";
  std::vector<SoftmaxCase> cases;
  for (const Shape& shape : {Shape{1, 8201}, Shape{3, 17000}, Shape{35, 9248}, Shape{2, 32000}}) {
    if (kBuild == Build::kEmulated && shape.rows == 35) continue;
    for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
      for (const int64_t padding : {0, 8}) {
        SoftmaxCase softmax;
        softmax.rows = shape.rows;
        softmax.cols = shape.cols;
        softmax.in = softmax.out = type;
        softmax.padding = padding;
        softmax.offset = static_cast<size_t>(padding / 4);
        cases.push_back(softmax);
      }
    }
  }
  run(in_all_modes(cases));
}

// Few rows, each divided among the warps of several blocks: 64 or 128 runs (16-bit elements: 32 or
// 64), of the most tiles or one fewer, the last of them not full.
TEST_P(SoftmaxRow, FewWideRows) {
  const std::string& row = GetParam();
  if (row != "wide_cluster" && row != "cluster" && row != "split") {
    GTEST_SKIP() << "rows for several blocks";
  }
  std::vector<SoftmaxCase> cases;
  for (const Shape& shape : {Shape{3, 131080}, Shape{1, 300001}}) {
    for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
      SoftmaxCase softmax;
      softmax.rows = shape.rows;
      softmax.cols = shape.cols;
      softmax.in = softmax.dy = softmax.out = type;
      softmax.offset = static_cast<size_t>(shape.cols % 8);
      cases.push_back(softmax);
    }
  }
  run(in_all_modes(cases));
}

TEST_P(SoftmaxRow, EveryMixOfTypes) {
  std::vector<SoftmaxCase> cases;
  for (const Shape& shape : {Shape{3, 67}, Shape{4, 45}, Shape{2, 520}, Shape{1, 66024}}) {
    for (const mygemmDataType_t in : kTypes) {
      for (const mygemmDataType_t dy : kTypes) {
        for (const mygemmDataType_t out : kTypes) {
          // Wide: the type of dy matters backward only, where half of the mixes suffice.
          if (shape.rows == 1 && dy != in && dy != out) continue;
          SoftmaxCase softmax;
          softmax.rows = shape.rows;
          softmax.cols = shape.cols;
          softmax.in = in;
          softmax.dy = dy;
          softmax.out = out;
          softmax.padding = shape.cols == 67 ? 1 : 0;
          softmax.offset = shape.cols == 67 ? 1 : 0;
          cases.push_back(softmax);
        }
      }
    }
  }
  run(in_all_modes(cases));
}

// Rows without gaps, of nearly each number of elements that a thread may hold, and more rows than a
// block works on at once. They begin anywhere, in the output elsewhere than in the input.
TEST_P(SoftmaxRow, RowsThatBeginAnywhere) {
  constexpr Shape kAnywhere[] = {
      {2600, 3}, {1300, 7}, {700, 9},  {1300, 5}, {9, 1},    {9, 2},     {300, 11},  {260, 13},
      {300, 15}, {9, 18},   {290, 17}, {140, 23}, {9, 26},   {9, 31},    {9, 37},    {70, 43},
      {70, 65},  {9, 100},  {9, 131},  {3, 181},  {40, 201}, {3, 255},   {9, 301},   {3, 333},
      {3, 390},  {3, 500},  {9, 545},  {9, 701},  {3, 801},  {17, 1021}, {3, 1301},  {3, 1500},
      {9, 1703}, {2, 2001}, {5, 2301}, {3, 3001}, {3, 5003}, {2, 9001},  {2, 13007}, {2, 40001}};
  constexpr mygemmDataType_t kMixes[][2] = {
      {MYGEMM_R_32F, MYGEMM_R_16BF}, {MYGEMM_R_16F, MYGEMM_R_32F}, {MYGEMM_R_32F, MYGEMM_R_32F}};
  std::vector<SoftmaxCase> cases;
  size_t number = 0;
  for (const Shape& shape : kAnywhere) {
    SoftmaxCase softmax;
    softmax.rows = shape.rows;
    softmax.cols = shape.cols;
    softmax.in = softmax.dy = number % 2 == 0 ? MYGEMM_R_16F : MYGEMM_R_16BF;
    softmax.out = number % 3 == 0 ? MYGEMM_R_16F : MYGEMM_R_16BF;
    softmax.offset = number % 8;
    cases.push_back(softmax);
    softmax.out_offset = 1 + number % 5;
    softmax.rows = std::min<int64_t>(softmax.rows, 9);
    cases.push_back(softmax);
    softmax.in = kMixes[number % 3][0];
    softmax.dy = kMixes[number % 4 % 3][0];
    softmax.out = kMixes[number % 3][1];
    softmax.rows = std::min<int64_t>(shape.rows, 700);
    // 4: dy and dx of 16 bits, y of FP32, where only packs of four elements are in step
    softmax.out_offset = number % 4 == 1 ? 4 : number % 2;
    cases.push_back(softmax);
    ++number;
  }
  run(in_all_modes(cases));
}

TEST_P(SoftmaxRow, InPlace) {
  std::vector<SoftmaxCase> cases;
  for (const Shape& shape : {Shape{33, 40}, Shape{40, 77}, Shape{3, 1029}, Shape{3, 66051}}) {
    SoftmaxCase softmax;
    softmax.rows = shape.rows;
    softmax.cols = shape.cols;
    softmax.in_place = InPlace::kFirst;
    cases.push_back(softmax);
    softmax.padding = 3;
    cases.push_back(softmax);
    softmax.in = softmax.dy = MYGEMM_R_16F;
    softmax.out = MYGEMM_R_16BF;  // another type of the same width
    cases.push_back(softmax);
    softmax.padding = 0;
    cases.push_back(softmax);
  }
  cases = in_all_modes(cases);
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) {
    if (!cases[i].backward) continue;
    SoftmaxCase over_dy = cases[i];
    over_dy.in_place = InPlace::kSecond;
    cases.push_back(over_dy);
  }
  run(cases);
}

TEST_P(SoftmaxRow, Scales) {
  std::vector<SoftmaxCase> cases;
  for (const float scale : {-1.0f, 0.0f, 0.125f, -0.3f, 5.0f}) {
    for (const int64_t cols : {45, 700, 33001}) {
      SoftmaxCase softmax;
      softmax.rows = 3;
      softmax.cols = cols;
      softmax.scale = scale;
      cases.push_back(softmax);
    }
  }
  run(in_all_modes(cases));
}

// Masked, undefined and extreme rows, each beside a row of ordinary numbers.
TEST_P(SoftmaxRow, SpecialValues) {
  std::vector<SoftmaxCase> cases;
  for (const int64_t cols : {3, 45, 700, 33001}) {
    const size_t count = static_cast<size_t>(cols);
    std::vector<double> masked(count, -kInfinity);
    masked[1] = 2;
    std::vector<double> half_masked(count, -kInfinity);
    for (size_t c = 0; c < count; c += 2) half_masked[c] = 0.25 * static_cast<double>(c % 16);
    std::vector<double> with_nan(count, 0.5);
    with_nan[count - 1] = kNaN;
    std::vector<double> with_inf(count, 0.5);
    with_inf[count - 1] = kInfinity;
    std::vector<double> inf_and_masked(count, -kInfinity);
    inf_and_masked[0] = kInfinity;
    std::vector<double> far_apart(count, -1000);
    far_apart[2] = 1000;
    const std::vector<double> all_large(count, 3e4);
    const std::vector<double> all_masked(count, -kInfinity);
    for (const auto& row : {masked, half_masked, with_nan, with_inf, inf_and_masked, far_apart,
                            all_large, all_masked}) {
      for (const mygemmSoftmaxMode_t mode : kModes) {
        for (const float scale : {1.0f, -1.0f, 0.0f, 0.3f, -1e-38f}) {
          SoftmaxCase softmax;
          softmax.rows = 2;
          softmax.cols = cols;
          softmax.mode = mode;
          softmax.scale = scale;
          softmax.first_row = row;
          cases.push_back(softmax);
        }
        SoftmaxCase half;
        half.rows = 2;
        half.cols = cols;
        half.mode = mode;
        half.in = half.out = MYGEMM_R_16F;
        half.first_row = row;
        cases.push_back(half);
      }
    }
  }
  run(cases);
}

// s reaches 1e38, where rounding one product and not the other would be out by 1e30.
TEST_P(SoftmaxRow, HugeScalesPickTheLargest) {
  Handle handle(Family::kSoftmax, GetParam(), size_t{1} << 20);
  RowTally tally(GetParam());
  for (const int64_t cols : {5, 90, 1500, 33001}) {
    std::vector<float> x(static_cast<size_t>(cols));
    for (size_t c = 0; c < x.size(); ++c) x[c] = 0.1f + 0.6f * static_cast<float>(c % 89) / 89.0f;
    x[3] = 0.77f;
    for (const float scale : {1.3e38f, -1.3e38f}) {
      if (scale < 0) {
        for (float& value : x) value = -value;
      }
      const DeviceBuffer in(x.data(), x.size() * sizeof(float), 0);
      const DeviceBuffer out(x.size() * sizeof(float));
      const mygemmStatus_t status =
          mygemm_softmax(handle, MYGEMM_SOFTMAX, 1, cols, scale, in.data(), MYGEMM_R_32F, cols,
                         out.data(), MYGEMM_R_32F, cols);
      synchronize();
      const auto rows = explained_rows([&](char* text, size_t capacity, size_t* length) {
        return mygemm_explain_softmax(handle, nullptr, MYGEMM_SOFTMAX, 1, cols, in.data(),
                                      MYGEMM_R_32F, cols, out.data(), MYGEMM_R_32F, cols, text,
                                      capacity, length);
      });
      if (!tally.ran(status, rows)) continue;
      std::vector<float> y(x.size());
      out.download(y.data());
      for (size_t c = 0; c < y.size(); ++c) {
        EXPECT_EQ(y[c], c == 3 ? 1.0f : 0.0f) << "column " << c << ", scale " << scale;
      }
    }
  }
  tally.finish();
}

INSTANTIATE_TEST_SUITE_P(Rows, SoftmaxRow, ::testing::ValuesIn(row_names(Family::kSoftmax)),
                         row_test_name);

// ---- the plan's choice -------------------------------------------------------------------------

using Softmax = BackendTest;

TEST_F(Softmax, RowsSumToOne) {
  Handle handle;
  for (const int64_t cols : {1, 33, 1000, 3001}) {
    constexpr int64_t kRows = 4;
    std::vector<float> x(static_cast<size_t>(kRows * cols));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1013) / 100.0f;
    const DeviceBuffer in(x.data(), x.size() * sizeof(float), 0);
    const DeviceBuffer out(x.size() * sizeof(float));
    ASSERT_EQ(mygemm_softmax(handle, MYGEMM_SOFTMAX, kRows, cols, 1, in.data(), MYGEMM_R_32F, cols,
                             out.data(), MYGEMM_R_32F, cols),
              MYGEMM_STATUS_SUCCESS);
    synchronize();
    out.download(x.data());
    for (int64_t r = 0; r < kRows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) sum += x[static_cast<size_t>(r * cols + c)];
      EXPECT_NEAR(sum, 1.0, 0x1p-20) << "row " << r << " of " << cols;
    }
  }
}

TEST_F(Softmax, NothingToDoSucceedsWithoutPointers) {
  Handle handle;
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
    EXPECT_EQ(mygemm_softmax(handle, MYGEMM_SOFTMAX, shape.rows, shape.cols, 1, nullptr,
                             MYGEMM_R_32F, 5, nullptr, MYGEMM_R_32F, 5),
              MYGEMM_STATUS_SUCCESS);
    EXPECT_EQ(mygemm_softmax_backward(handle, MYGEMM_SOFTMAX, shape.rows, shape.cols, 1, nullptr,
                                      MYGEMM_R_32F, 5, nullptr, MYGEMM_R_32F, 5, nullptr,
                                      MYGEMM_R_32F, 5),
              MYGEMM_STATUS_SUCCESS);
  }
}

}  // namespace
}  // namespace mygemm_tests
