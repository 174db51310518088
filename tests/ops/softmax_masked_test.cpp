// Ops tests of softmax with masks, lengths, causality and caps, and of its gradient: every kernel
// of the backend that takes them forced on every kind of shape, type, layout and mask.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "softmax_masked_case.h"
#include "support/handle.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr mygemmDataType_t kTypes[] = {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF};
constexpr mygemmSoftmaxMode_t kModes[] = {MYGEMM_SOFTMAX, MYGEMM_LOG_SOFTMAX};

struct Shape {
  int64_t rows, cols;
};

class SoftmaxMaskedRow : public RowTest {
 protected:
  // Each case forward and backward, as softmax and as log-softmax, where it is not said otherwise.
  void run(const std::vector<MaskedSoftmaxCase>& cases, bool in_all_modes = true) {
    Handle handle(Family::kMaskedSoftmax, GetParam(), size_t{1} << 20);
    RowTally tally(GetParam());
    uint64_t seed = 1;
    for (MaskedSoftmaxCase test : cases) {
      for (const bool backward : {false, true}) {
        for (const mygemmSoftmaxMode_t mode : kModes) {
          if (in_all_modes) {
            test.softmax.backward = backward;
            test.softmax.mode = mode;
          } else if (backward || mode == MYGEMM_LOG_SOFTMAX) {
            continue;
          }
          test.softmax.seed = seed++;
          run_masked_softmax(handle, test, &tally);
          if (HasFailure()) return;
        }
      }
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

MaskedSoftmaxCase case_of(const Shape& shape, mygemmDataType_t type) {
  MaskedSoftmaxCase test;
  test.softmax.rows = shape.rows;
  test.softmax.cols = shape.cols;
  test.softmax.in = test.softmax.dy = test.softmax.out = type;
  return test;
}

// Columns around what a warp and a block hold, and around a pack; causal rows of all lengths,
// lengths of all kinds, masks.
TEST_P(SoftmaxMaskedRow, ShapesAndLayouts) {
  std::vector<MaskedSoftmaxCase> cases;
  int64_t number = 0;
  for (const Shape& shape :
       {Shape{3, 1}, Shape{5, 2}, Shape{40, 31}, Shape{70, 64}, Shape{50, 77}, Shape{9, 129},
        Shape{5, 700}, Shape{9, 256}, Shape{6, 509}, Shape{5, 512}, Shape{5, 1024}, Shape{3, 1032},
        Shape{4, 2048}, Shape{3, 4099}, Shape{3, 4160}, Shape{2, 8192}, Shape{2, 9000},
        Shape{2, 16384}, Shape{2, 33001}}) {
    for (const int64_t padding : {0, 1, 8}) {
      for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
        ++number;
        if (kBuild == Build::kEmulated && number % 3 != 0) continue;
        MaskedSoftmaxCase test = case_of(shape, type);
        test.softmax.padding = padding;
        test.softmax.offset = padding == 1 ? 1 : 0;
        test.causal = number % 4 == 1;
        test.causal_offset = shape.cols - shape.rows + number % 2;
        test.lengths = number % 4 == 2;
        test.length_of_row = true;
        test.mask = number % 4 == 3;
        test.zeros = number % 3 == 0;
        if (number % 4 == 0) test.softcap = 5;
        cases.push_back(test);
      }
    }
  }
  run(cases);
}

// Rows of groups of batches, of which the last ones are incomplete, with every combination of
// strides of the mask and of the lengths.
TEST_P(SoftmaxMaskedRow, GroupsAndBatches) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const int64_t cols : {11, 72, 1040}) {
    for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
      if (kBuild == Build::kEmulated && cols == 1040 && bits % 3 != 0) continue;
      MaskedSoftmaxCase test = case_of({29, cols}, bits % 2 == 0 ? MYGEMM_R_16F : MYGEMM_R_32F);
      test.group_rows = 4;
      test.batch_groups = 3;
      test.mask = true;
      test.mask_type = kTypes[bits % 3];
      test.by_batch = bits & 1;
      test.by_group = bits & 2;
      test.by_row = bits & 4;
      test.causal = bits == 5;
      test.causal_offset = cols - 6;
      test.lengths = bits % 2 == 1;
      test.length_of_group = bits & 2;
      test.length_of_row = bits & 4;
      test.lengths_type = bits & 4 ? MYGEMM_INDEX_64I : MYGEMM_INDEX_32I;
      test.mask_padding = bits == 7 ? 8 : 0;
      cases.push_back(test);
    }
    MaskedSoftmaxCase test = case_of({29, cols}, MYGEMM_R_16BF);
    test.group_rows = 7;  // all groups in one batch
    test.causal = test.mask = true;
    test.causal_offset = 3;
    cases.push_back(test);
  }
  run(cases);
}

TEST_P(SoftmaxMaskedRow, EveryMixOfTypes) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const Shape& shape : {Shape{3, 67}, Shape{2, 520}, Shape{2, 2056}}) {
    for (const mygemmDataType_t in : kTypes) {
      for (const mygemmDataType_t mask : kTypes) {
        for (const mygemmDataType_t out : kTypes) {
          if (kBuild == Build::kEmulated && shape.cols > 2000 && mask != in) continue;
          MaskedSoftmaxCase test = case_of(shape, in);
          test.softmax.dy = mask;
          test.softmax.out = out;
          test.mask = true;
          test.mask_type = mask;
          test.softcap = in == out ? 0.0f : 8.0f;
          test.x = mask;
          test.softmax.padding = shape.cols == 67 ? 1 : 0;
          cases.push_back(test);
        }
      }
    }
  }
  run(cases);
}

// Columns of a mask at any distance, backwards too, and masks that begin anywhere.
TEST_P(SoftmaxMaskedRow, MasksAnywhere) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const int64_t cols : {40, 1104}) {
    for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
      for (const int64_t col : {1, 2, -1, -3}) {
        MaskedSoftmaxCase test = case_of({3, cols}, type);
        test.mask = true;
        test.mask_type = type;
        test.mask_col = col;
        test.mask_offset = col == 1 ? 1 : 0;
        cases.push_back(test);
        test.mask_offset = 0;
        test.mask_padding = 1;
        cases.push_back(test);
      }
    }
  }
  run(cases, false);
}

TEST_P(SoftmaxMaskedRow, InPlace) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const Shape& shape : {Shape{33, 40}, Shape{9, 77}, Shape{3, 1032}, Shape{2, 20001}}) {
    for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
      MaskedSoftmaxCase test = case_of(shape, type);
      test.softmax.in_place = InPlace::kFirst;
      test.causal = true;
      test.causal_offset = shape.cols / 2;
      cases.push_back(test);
      test.softmax.padding = 3;
      if (type == MYGEMM_R_16F) test.softmax.out = MYGEMM_R_16BF;
      cases.push_back(test);
      test.softmax.in_place = InPlace::kNo;
      test.x = type;
      test.softcap = 3;
      test.over_x = true;
      cases.push_back(test);
    }
  }
  run(cases);
}

TEST_P(SoftmaxMaskedRow, InPlaceOfTheGradient) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const mygemmSoftmaxMode_t mode : kModes) {
    for (const int64_t cols : {72, 77, 1032}) {
      MaskedSoftmaxCase test = case_of({3, cols}, MYGEMM_R_32F);
      test.softmax.mode = mode;
      test.softmax.backward = true;
      test.softmax.in_place = InPlace::kSecond;
      test.lengths = test.length_of_row = true;
      cases.push_back(test);
    }
  }
  run(cases, false);
}

TEST_P(SoftmaxMaskedRow, ScalesAndCaps) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const float scale : {-1.0f, 0.0f, 0.125f, 5.0f}) {
    for (const float cap : {0.0f, 0.5f, 30.0f, 1e6f}) {
      for (const int64_t cols : {45, 704}) {
        MaskedSoftmaxCase test = case_of({3, cols}, cols == 45 ? MYGEMM_R_32F : MYGEMM_R_16F);
        test.softmax.scale = scale;
        test.softcap = cap;
        test.zeros = true;
        test.mask = cap == 30.0f;
        cases.push_back(test);
      }
    }
  }
  run(cases);
}

// Rows of which nothing is left, for each reason.
TEST_P(SoftmaxMaskedRow, EmptyRows) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const int64_t cols : {24, 33, 1032, 20008}) {
    for (const bool zeros : {false, true}) {
      MaskedSoftmaxCase test = case_of({6, cols}, MYGEMM_R_32F);
      test.zeros = zeros;
      test.causal = true;
      test.causal_offset = -3;
      cases.push_back(test);
      test.causal = false;
      test.mask = true;
      test.masked_share = 2;
      cases.push_back(test);
      test.softmax.in = test.softmax.out = test.softmax.dy = MYGEMM_R_16BF;
      cases.push_back(test);
    }
  }
  run(cases);
}

// Undefined and extreme rows, each beside rows of ordinary numbers.
TEST_P(SoftmaxMaskedRow, SpecialValues) {
  std::vector<MaskedSoftmaxCase> cases;
  for (const int64_t cols : {3, 45, 704, 20008}) {
    const size_t count = static_cast<size_t>(cols);
    std::vector<double> with_nan(count, 0.5);
    with_nan[count - 1] = kNaN;
    std::vector<double> with_inf(count, 0.5);
    with_inf[count - 1] = kInfinity;
    std::vector<double> nan_and_masked(count, -kInfinity);
    nan_and_masked[0] = kNaN;
    std::vector<double> far_apart(count, -1000);
    far_apart[2] = 1000;
    const std::vector<double> all_large(count, 3e4), all_masked(count, -kInfinity);
    for (const auto& row : {with_nan, with_inf, nan_and_masked, far_apart, all_large, all_masked}) {
      for (const mygemmSoftmaxMode_t mode : kModes) {
        for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
          for (const int64_t cut : {0, 1}) {
            MaskedSoftmaxCase test = case_of({2, cols}, type);
            test.softmax.mode = mode;
            test.softmax.first_row = row;
            test.zeros = true;
            test.causal = cut == 1;
            test.causal_offset = cols - 2;  // masks the last column of row 0
            cases.push_back(test);
            if (cols > 45) continue;
            test.zeros = false;
            test.mask = true;
            test.masked_share = 0;
            cases.push_back(test);
          }
        }
      }
    }
  }
  run(cases, false);
}

INSTANTIATE_TEST_SUITE_P(Rows, SoftmaxMaskedRow,
                         ::testing::ValuesIn(row_names(Family::kMaskedSoftmax)), row_test_name);

// ---- the plan's choice -------------------------------------------------------------------------

using SoftmaxMasked = BackendTest;

// Results of rows `first` on of a causal softmax, as bits.
std::vector<unsigned char> bits_of_rows(mygemmHandle_t handle, const DeviceBuffer& x,
                                        mygemmDataType_t type, int64_t cols, int64_t first,
                                        int64_t rows) {
  const auto row_bytes = static_cast<size_t>(cols * type_bytes(type));
  const size_t offset = row_bytes * static_cast<size_t>(first);
  const DeviceBuffer y(row_bytes * static_cast<size_t>(rows), offset % 16);
  mygemmSoftmax_t call = MYGEMM_SOFTMAX_INIT;
  call.rows = rows;
  call.cols = call.ldx = call.ldy = cols;
  call.xtype = call.ytype = type;
  call.x = x.as<char>() + offset;
  call.y = y.data();
  call.causal = 1;
  call.causal_offset = first + cols / 3;
  EXPECT_EQ(mygemm_softmax_ex(handle, &call), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  std::vector<unsigned char> bits(y.bytes());
  y.download(bits.data());
  return bits;
}

TEST_F(SoftmaxMasked, BitsOfARowDoNotDependOnTheNumberOfRows) {
  const int64_t many = kBuild == Build::kGpu ? 3000 : 6;
  Random random(3);
  Handle handle(Family::kMaskedSoftmax, "", size_t{1} << 20);
  for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
    const auto size = static_cast<size_t>(type_bytes(type));
    for (const int64_t cols : {5, 80, 1001, 4096, 33000}) {
      std::vector<unsigned char> image(static_cast<size_t>(many * cols) * size);
      for (size_t i = 0; i < image.size(); i += size) {
        encode(type, random.real(-20, 20), &image[i]);
      }
      const DeviceBuffer x(image.data(), image.size(), 0);
      const auto all = bits_of_rows(handle, x, type, cols, 0, many);
      for (const int64_t rows : {int64_t{1}, many / 2}) {
        for (const int64_t first : {int64_t{0}, many - rows}) {
          const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * cols) *
                                               static_cast<std::ptrdiff_t>(size);
          const auto some = bits_of_rows(handle, x, type, cols, first, rows);
          EXPECT_TRUE(std::equal(some.begin(), some.end(), begin))
              << rows << " rows from " << first << " on, columns " << cols;
        }
      }
    }
  }
}

// A call with nothing to mask is one of mygemm_softmax, bit by bit.
TEST_F(SoftmaxMasked, WithoutMasksIsThePlainSoftmax) {
  Handle handle;
  constexpr int64_t kRows = 3, kCols = 300;
  std::vector<float> x(kRows * kCols);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1013) / 100.0f;
  const DeviceBuffer in(x.data(), x.size() * sizeof(float), 0);
  const DeviceBuffer plain(x.size() * sizeof(float)), out(x.size() * sizeof(float));
  ASSERT_EQ(mygemm_softmax(handle, MYGEMM_SOFTMAX, kRows, kCols, 0.3f, in.data(), MYGEMM_R_32F,
                           kCols, plain.data(), MYGEMM_R_32F, kCols),
            MYGEMM_STATUS_SUCCESS);
  mygemmSoftmax_t call = MYGEMM_SOFTMAX_INIT;
  call.rows = kRows;
  call.cols = call.ldx = call.ldy = kCols;
  call.scale = 0.3f;
  call.x = in.data();
  call.y = out.data();
  ASSERT_EQ(mygemm_softmax_ex(handle, &call), MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  synchronize();
  std::vector<float> expected(x.size()), got(x.size());
  plain.download(expected.data());
  out.download(got.data());
  EXPECT_EQ(got, expected);
}

TEST_F(SoftmaxMasked, NothingToDoSucceedsWithoutPointers) {
  Handle handle;
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
    for (const int backward : {0, 1}) {
      mygemmSoftmax_t call = MYGEMM_SOFTMAX_INIT;
      call.rows = shape.rows;
      call.cols = shape.cols;
      call.ldx = call.ldy = call.lddy = call.lddx = 5;
      call.backward = backward;
      call.causal = 1;
      EXPECT_EQ(mygemm_softmax_ex(handle, &call), MYGEMM_STATUS_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace mygemm_tests
