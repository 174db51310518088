// Ops tests of cross entropy: every kernel of the backend forced on every kind of shape, type,
// layout and option, its accuracy, and the properties that all kernels share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "cross_entropy_case.h"
#include "support/handle.h"
#include "support/memory.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr mygemmDataType_t kTypes[] = {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF};

struct Shape {
  int64_t rows, cols;
};

class CrossEntropyRow : public RowTest {
 protected:
  void run(std::vector<LossCase> cases) {
    Handle handle(Family::kCrossEntropy, GetParam(), size_t{1} << 20);
    RowTally tally(GetParam());
    uint64_t seed = 1;
    for (LossCase& test : cases) {
      test.seed = seed++;
      run_cross_entropy(handle, test, &tally);
      if (HasFailure()) return;
    }
    EXPECT_TRUE(handle.workspace_bands_intact()) << "written outside the workspace";
    tally.finish();
  }
};

// Columns around a tile of either width, around the capacity of a block, of clusters of one, two
// and four blocks; more rows than clusters.
TEST_P(CrossEntropyRow, ShapesAndLayouts) {
  std::vector<LossCase> cases;
  const int64_t many = kBuild == Build::kGpu ? 700 : 9;
  for (const Shape& shape :
       {Shape{1, 1}, Shape{5, 2}, Shape{130, 7}, Shape{3, 16}, Shape{3, 31}, Shape{70, 33},
        Shape{9, 100}, Shape{4, 1024}, Shape{3, 1025}, Shape{2, 1537}, Shape{2, 2048},
        Shape{2, 2049}, Shape{2, 8192}, Shape{3, 8193}, Shape{1, 16385}, Shape{2, 32771},
        Shape{many, 33001}, Shape{1, 66016}, Shape{3, 131079}}) {
    for (const int64_t padding : {0, 1, 8}) {
      if (kBuild == Build::kEmulated && padding == 8 && shape.cols > 9000) continue;
      LossCase test;
      test.rows = shape.rows;
      test.cols = shape.cols;
      test.padding = padding;
      test.offset = padding == 1 ? 1 : 0;
      if (shape.rows == many && padding > 0) test.rows = 4;
      for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
        test.in = test.out = type;
        test.some_without_class = type == MYGEMM_R_16BF;
        cases.push_back(test);
      }
    }
  }
  run(cases);
}

// Rows of the narrow kernel: every number of lanes and of elements, rows that are staged, that
// consist of whole packs, and neither; more than one pass of rows for a warp where multiprocessors
// are few.
TEST_P(CrossEntropyRow, NarrowRows) {
  std::vector<LossCase> cases;
  for (const int64_t cols :
       {3,  4,  6,  8,   10,  12,  13,  16,  20,  21,  24,  25,  28,  36,  48,  50,  63,   64,
        65, 68, 97, 100, 128, 129, 180, 200, 256, 257, 300, 383, 400, 513, 700, 900, 1000, 1023}) {
    for (const int64_t padding : {0, 1, 4}) {
      for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
        LossCase test;
        const bool gpu = kBuild == Build::kGpu;
        test.rows = std::min<int64_t>(gpu ? 70001 : 2601, (gpu ? 2200000 : 84000) / cols);
        if (gpu && padding > 0) test.rows = 5001;
        test.cols = cols;
        test.padding = padding;
        test.offset = padding == 1 ? 1 : 0;
        test.in = test.out = type;
        test.in_place = padding == 4;
        test.some_without_class = cols % 2 == 0;
        test.smoothing = padding == 4 ? 0.1f : 0.0f;
        cases.push_back(test);
      }
    }
  }
  run(cases);
}

TEST_P(CrossEntropyRow, EveryMixOfTypes) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {67, 1040, 33008}) {
    for (const mygemmDataType_t in : kTypes) {
      for (const mygemmDataType_t out : kTypes) {
        for (const mygemmIndexType_t targets : {MYGEMM_INDEX_32I, MYGEMM_INDEX_64I}) {
          LossCase test;
          test.rows = 4;
          test.cols = cols;
          test.in = in;
          test.out = out;
          test.targets = targets;
          test.some_without_class = true;
          test.padding = cols == 67 ? 1 : 0;
          cases.push_back(test);
        }
      }
    }
  }
  run(cases);
}

// Each output alone, in place, and with the gradients of the losses.
TEST_P(CrossEntropyRow, OutputsAndFactors) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {9, 1029, 33001}) {
    for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
      LossCase test;
      test.rows = 5;
      test.cols = cols;
      test.in = test.out = type;
      test.padding = 3;
      for (const int mask : {1, 2, 4, 3, 6}) {
        test.gradient = mask & 1;
        test.loss = mask & 2;
        test.lse = mask & 4;
        cases.push_back(test);
      }
      test = cases[cases.size() - 5];
      test.in_place = test.some_without_class = test.lse = true;
      cases.push_back(test);
      for (const int64_t stride : {0, 1, 3}) {
        test.in_place = stride == 1;
        test.scale = 0.25f;
        test.stride_dloss = stride;
        cases.push_back(test);
      }
      test.stride_dloss = -1;
      test.scale = 0.0f;
      cases.push_back(test);
    }
  }
  run(cases);
}

TEST_P(CrossEntropyRow, LabelSmoothingAndZLoss) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {1, 5, 1300, 33001}) {
    for (const float smoothing : {0.0f, 0.1f, 1.0f}) {
      for (const float z_loss : {0.0f, 1e-4f, -0.5f}) {
        for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
          if (kBuild == Build::kEmulated && cols > 1300 && z_loss < 0) continue;
          LossCase test;
          test.rows = 3;
          test.cols = cols;
          test.in = test.out = type;
          test.smoothing = smoothing;
          test.z_loss = z_loss;
          test.some_without_class = cols == 1300;
          test.stride_dloss = cols == 5 ? 1 : -1;
          cases.push_back(test);
        }
      }
    }
  }
  run(cases);
}

// ignore_index may be a class.
TEST_P(CrossEntropyRow, IgnoredClass) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {3, 1600}) {
    LossCase test;
    test.rows = 12;
    test.cols = cols;
    test.ignore_index = 1;
    cases.push_back(test);
  }
  run(cases);
}

// Masked, undefined and extreme rows, each beside a row of ordinary numbers; as the target, the
// first logit and the last.
TEST_P(CrossEntropyRow, SpecialValues) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {3, 45, 1300, 33001}) {
    const size_t count = static_cast<size_t>(cols);
    std::vector<double> masked(count, -kInfinity);
    masked[0] = 2;
    std::vector<double> half_masked(count, -kInfinity);
    for (size_t c = 0; c < count; c += 2) half_masked[c] = 0.25 * static_cast<double>(c % 16);
    std::vector<double> with_nan(count, 0.5);
    with_nan[count - 1] = kNaN;
    std::vector<double> with_inf(count, 0.5);
    with_inf[count - 1] = kInfinity;
    std::vector<double> far_apart(count, -1000);
    far_apart[0] = 1000;
    const std::vector<double> all_large(count, 3e4), all_masked(count, -kInfinity);
    for (const auto& row :
         {masked, half_masked, with_nan, with_inf, far_apart, all_large, all_masked}) {
      for (const int64_t target : {int64_t{0}, cols - 1}) {
        for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16F}) {
          LossCase test;
          test.rows = 2;
          test.cols = cols;
          test.in = test.out = type;
          test.first_row = row;
          test.first_target = target;
          cases.push_back(test);
          if (cols > 1000 && kBuild == Build::kEmulated) continue;
          test.ignore_index = target;
          cases.push_back(test);
        }
      }
    }
  }
  run(cases);
}

// Logits as large as FP32 has: lse and the loss stay finite.
TEST_P(CrossEntropyRow, HugeLogits) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {5, 1300, 33001}) {
    for (const double scale : {3e38, 1e30, 2e6}) {
      LossCase test;
      test.rows = 2;
      test.cols = cols;
      test.first_row.assign(static_cast<size_t>(cols), -0.5 * scale);
      test.first_row[1] = scale;
      test.first_row[2] = scale;
      if (scale < 1e7) {  // FP32 still has integers: tiles whose sums all count, of other maxima
        for (size_t c = 0; c < test.first_row.size(); ++c) {
          test.first_row[c] = scale + static_cast<double>(c / 600 % 7);
        }
      }
      for (const int64_t target : {0, 1}) {
        if (target == 0 && scale > 2e38) continue;  // the loss itself is larger than FP32 has
        test.first_target = target;
        for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
          test.in = test.out = type;
          cases.push_back(test);
        }
      }
    }
  }
  run(cases);
}

// A target that is nearly certain: neither its gradient nor the loss cancels.
TEST_P(CrossEntropyRow, NearlyCertainTargets) {
  std::vector<LossCase> cases;
  for (const int64_t cols : {5, 1300, 33001}) {
    for (const double ahead : {5.0, 20.0, 60.0, 75.0}) {
      LossCase test;
      test.cols = cols;
      test.first_row.assign(static_cast<size_t>(cols), -0.25);
      for (size_t c = 0; c < test.first_row.size(); ++c) {
        test.first_row[c] += static_cast<double>(c % 7) / 16;
      }
      test.first_target = cols / 2;
      test.first_row[static_cast<size_t>(cols / 2)] = ahead;
      cases.push_back(test);
    }
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Rows, CrossEntropyRow,
                         ::testing::ValuesIn(row_names(Family::kCrossEntropy)), row_test_name);

// ---- the plan's choice -------------------------------------------------------------------------

using CrossEntropy = BackendTest;

// The losses and the gradient of rows `first` on, as bits.
struct RowBits {
  std::vector<unsigned char> dx;
  std::vector<float> loss;
  bool operator==(const RowBits&) const = default;
};

RowBits bits_of_rows(mygemmHandle_t handle, const DeviceBuffer& x, const DeviceBuffer& targets,
                     mygemmDataType_t type, int64_t cols, int64_t first, int64_t rows) {
  const auto row_bytes = static_cast<size_t>(cols * type_bytes(type));
  const size_t bytes = row_bytes * static_cast<size_t>(rows);
  // The same distance from a multiple of 16 bytes as in the whole matrix.
  const size_t offset = row_bytes * static_cast<size_t>(first);
  const DeviceBuffer dx(bytes, offset % 16), loss(static_cast<size_t>(rows) * sizeof(float));
  mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
  call.rows = rows;
  call.cols = call.ldx = call.lddx = cols;
  call.xtype = call.dxtype = type;
  call.x = x.as<char>() + offset;
  call.dx = dx.data();
  call.targets = targets.as<int64_t>() + first;
  call.loss = loss.as<float>();
  const mygemmStatus_t status = mygemm_cross_entropy(handle, &call);
  synchronize();
  RowBits bits;
  if (status == MYGEMM_STATUS_NOT_SUPPORTED) return bits;
  EXPECT_EQ(status, MYGEMM_STATUS_SUCCESS) << mygemm_last_error();
  bits.dx.resize(bytes);
  bits.loss.resize(static_cast<size_t>(rows));
  dx.download(bits.dx.data());
  loss.download(bits.loss.data());
  return bits;
}

RowBits part_of(const RowBits& all, size_t row_bytes, int64_t first, int64_t rows) {
  const auto cut = [&](const auto& values, size_t each) {
    const auto begin =
        values.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(first) * each);
    return std::decay_t<decltype(values)>(
        begin, begin + static_cast<std::ptrdiff_t>(static_cast<size_t>(rows) * each));
  };
  return {cut(all.dx, row_bytes), cut(all.loss, 1)};
}

// By the plan's choice, and by every kernel that it may choose for some number of rows.
TEST_F(CrossEntropy, BitsOfARowDoNotDependOnTheNumberOfRows) {
  const int64_t many = kBuild == Build::kGpu ? 300 : 4;
  Random random(3);
  for (const mygemmDataType_t type : {MYGEMM_R_32F, MYGEMM_R_16BF}) {
    const auto size = static_cast<size_t>(type_bytes(type));
    for (const int64_t cols : {5, 77, 1001, 9001, 33001, 66016, 131079}) {
      SCOPED_TRACE(std::string(type_name(type)) + ", columns " + std::to_string(cols));
      std::vector<unsigned char> image(static_cast<size_t>(many * cols) * size);
      for (size_t i = 0; i < image.size(); i += size) {
        encode(type, random.real(-20, 20), &image[i]);
      }
      std::vector<int64_t> targets(static_cast<size_t>(many));
      for (int64_t& target : targets) target = random.integer(0, cols - 1);
      const DeviceBuffer x(image.data(), image.size(), 0);
      const DeviceBuffer target_buffer(targets.data(), targets.size() * sizeof(int64_t), 0);
      Handle handle(Family::kCrossEntropy, "", size_t{1} << 20);
      const RowBits all = bits_of_rows(handle, x, target_buffer, type, cols, 0, many);
      for (const int64_t rows : {int64_t{1}, many / 2}) {
        for (const int64_t first : {int64_t{0}, many - rows}) {
          EXPECT_TRUE(bits_of_rows(handle, x, target_buffer, type, cols, first, rows) ==
                      part_of(all, static_cast<size_t>(cols) * size, first, rows))
              << rows << " rows from " << first << " on";
        }
      }
      for (const std::string& name : row_names(Family::kCrossEntropy)) {
        if (name.find("naive") != std::string::npos) continue;
        Handle forced(Family::kCrossEntropy, name, size_t{1} << 20);
        const RowBits bits = bits_of_rows(forced, x, target_buffer, type, cols, 0, many);
        EXPECT_TRUE(bits.dx.empty() || bits == all) << name;
      }
    }
  }
}

TEST_F(CrossEntropy, NothingToDoSucceedsWithoutPointers) {
  Handle handle;
  mygemmCrossEntropy_t call = MYGEMM_CROSS_ENTROPY_INIT;
  call.ldx = 5;
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}, Shape{5, 5}}) {
    call.rows = shape.rows;
    call.cols = shape.cols;
    EXPECT_EQ(mygemm_cross_entropy(handle, &call), MYGEMM_STATUS_SUCCESS);
  }
}

}  // namespace
}  // namespace mygemm_tests
