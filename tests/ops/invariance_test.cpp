// Ops tests: batch-invariant products. An element's bits are the same by every kernel that may
// compute it, wherever it lies, and whatever is computed beside it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "invariance_case.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

constexpr size_t kWorkspace = size_t{36} << 20;
const bool kOnGpu = kBuild == Build::kGpu;

constexpr auto kN = MYGEMM_OP_N, kT = MYGEMM_OP_T;
constexpr auto kF32 = MYGEMM_R_32F, kF16 = MYGEMM_R_16F, kBf16 = MYGEMM_R_16BF;
constexpr auto kDefault = MYGEMM_MATH_DEFAULT, kStrict = MYGEMM_MATH_STRICT;
constexpr auto kFast = MYGEMM_MATH_FAST;

// A k for each order of sums, and one that is no multiple of a k step.
const int64_t kLong = kOnGpu ? 1031 : 261;
constexpr int64_t kOfFast = 801;
const std::vector<InvariantCase> kCases = {
    {kF32, kF32, kF32, kDefault, kN, kN, kLong},
    {kF32, kF32, kF32, kDefault, kT, kN, kLong},
    {kF32, kF32, kF32, kDefault, kN, kT, kLong},
    {kF32, kF32, kF32, kDefault, kT, kT, kLong},
    {kF32, kF32, kF32, kDefault, kN, kN, 256, true},
    {kF32, kF32, kF32, kDefault, kN, kT, 77, true},
    {kF32, kF32, kF32, kStrict, kN, kN, kLong},
    {kF32, kF32, kF32, kStrict, kT, kN, 64},
    {kF32, kF32, kF32, kStrict, kN, kT, 100},
    {kF32, kF32, kF32, kStrict, kT, kT, 45, true},
    {kF32, kF32, kF32, kFast, kN, kN, kOfFast},
    {kF32, kF32, kF32, kFast, kT, kT, 100},
    {kBf16, kBf16, kBf16, kDefault, kN, kN, kLong},
    {kBf16, kBf16, kF32, kDefault, kT, kN, kLong, true},
    {kF16, kF16, kF16, kStrict, kN, kT, kLong},
    {kF16, kF16, kF16, kDefault, kT, kT, 128, true},
    {kF32, kBf16, kF32, kDefault, kN, kN, kLong},
    {kBf16, kF32, kF32, kStrict, kT, kT, 128, true},
};

std::vector<int64_t> all_lines(int64_t count) {
  std::vector<int64_t> lines(static_cast<size_t>(count));
  std::iota(lines.begin(), lines.end(), 0);
  return lines;
}

// Some of them, in any order.
std::vector<int64_t> some_lines(Random* random, int64_t count, int64_t wanted) {
  std::vector<int64_t> lines = all_lines(count);
  for (int64_t i = 0; i < wanted; ++i) {
    std::swap(lines[static_cast<size_t>(i)],
              lines[static_cast<size_t>(random->integer(i, count - 1))]);
  }
  lines.resize(static_cast<size_t>(wanted));
  return lines;
}

// How many: few, or any power of two and its neighbours.
int64_t some_count(Random* random, int64_t most) {
  const int64_t power = int64_t{1} << random->integer(0, 13);
  return std::clamp<int64_t>(power + random->integer(-1, 1), 1, most);
}

Part random_part(Random* random, const InvariantProduct& product) {
  Part part;
  part.rows = some_lines(random, product.m(), some_count(random, product.m()));
  part.columns = some_lines(random, product.n(), some_count(random, product.n()));
  if (random->integer(0, 1) == 0) part.padding = random->integer(1, 9);
  if (random->integer(0, 1) == 0) part.offset = random->integer(1, 7);
  part.by_handle = random->integer(0, 1) == 0;
  const bool small = part.rows.size() * part.columns.size() < (kOnGpu ? 300000 : 3000);
  if (small && random->integer(0, 1) == 0) {
    part.form = random->integer(0, 1) == 0 ? Form::kStrided : Form::kPointers;
    part.batch = random->integer(1, 3);
  }
  return part;
}

Part whole(const InvariantProduct& product) {
  return {.rows = all_lines(product.m()), .columns = all_lines(product.n())};
}

class Invariance : public BackendTest {};

TEST_F(Invariance, OfRowsAndColumnsMovedAbout) {
  Random random(3);
  std::set<std::string> kernels;
  for (const InvariantCase& wanted : kCases) {
    InvariantProduct product(wanted, kOnGpu ? 1500 : 140, kOnGpu ? 700 : 133);
    Handle handle(kWorkspace), without(0);
    ASSERT_TRUE(product.compute(handle, whole(product))) << mygemm_last_error();
    for (int trial = 0; trial < 12; ++trial) {
      const Part part = random_part(&random, product);
      ASSERT_TRUE(product.compute(trial % 2 == 0 ? handle : without, part)) << mygemm_last_error();
      kernels.insert(product.kernel_of(handle, part));
      if (HasFailure()) return;
    }
  }
  if (kBuild == Build::kHost) {
    EXPECT_EQ(kernels, std::set<std::string>{"host_blocked"});
  } else {
    EXPECT_GE(kernels.size(), 5u);
  }
}

// From 1 to 8192 rows, or columns, as a server meets them.
TEST_F(Invariance, OfBatchesOfEverySize) {
  const int64_t most = kOnGpu ? 8192 : 300, features = kOnGpu ? 64 : 40;
  for (const InvariantCase& wanted :
       {kCases[0], kCases[1], kCases[6], kCases[12], kCases[13], kCases[14], kCases[16]}) {
    for (const bool of_rows : {true, false}) {
      InvariantProduct product(wanted, of_rows ? most : features, of_rows ? features : most);
      Handle handle(kWorkspace);
      ASSERT_TRUE(product.compute(handle, whole(product)));
      Random random(4);
      for (int64_t count = 1; count < most; count += std::max<int64_t>(1, count / 2)) {
        Part part = whole(product);
        (of_rows ? part.rows : part.columns) = some_lines(&random, most, count);
        ASSERT_TRUE(product.compute(handle, part));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Invariance, OfTriangles) {
  for (const InvariantCase& wanted : {kCases[2], kCases[7], kCases[12]}) {
    const int64_t n = kOnGpu ? 900 : 150;
    InvariantProduct product(wanted, n, n);
    Handle handle(kWorkspace), little(size_t{1} << 20);
    ASSERT_TRUE(product.compute(handle, whole(product)));
    Random random(5);
    for (const mygemmFill_t fill : {MYGEMM_FILL_LOWER, MYGEMM_FILL_UPPER}) {
      for (const int64_t size : {int64_t{1}, int64_t{20}, n / 2 + 1, n}) {
        Part part;
        part.rows = some_lines(&random, n, size);
        part.columns = some_lines(&random, n, size);
        part.fill = fill;
        EXPECT_TRUE(product.compute(handle, part)) << mygemm_last_error();
        part.padding = 3;
        EXPECT_TRUE(product.compute(little, part)) << mygemm_last_error();
      }
    }
  }
}

TEST_F(Invariance, OfSums) {
  for (const InvariantCase& wanted : {kCases[0], kCases[1], kCases[12]}) {
    InvariantProduct product(wanted, 150, 60);
    Handle handle(kWorkspace), without(0);
    Random random(6);
    for (const mygemmSums_t sums : {MYGEMM_SUMS_OF_A, MYGEMM_SUMS_OF_B}) {
      for (int trial = 0; trial < 6; ++trial) {
        Part part = random_part(&random, product);
        if (part.form == Form::kPointers) part.form = Form::kStrided;
        part.sums_of = sums;
        EXPECT_TRUE(product.compute(trial % 2 == 0 ? handle : without, part))
            << mygemm_last_error();
      }
    }
  }
}

// Results of the guard's repairs beside others: these keep their bits.
TEST_F(Invariance, OfFiniteRowsBesideInfiniteOnes) {
  for (const InvariantCase& wanted : {kCases[0], kCases[3], kCases[4], kCases[6], kCases[12]}) {
    InvariantProduct product(wanted, 100, 70);
    Handle handle(kWorkspace);
    Part finite = whole(product);
    finite.rows = {1, 2, 3, 60, 61, 99};
    ASSERT_TRUE(product.compute(handle, finite));
    product.fill_row(0, INFINITY);
    product.fill_row(62, NAN);
    product.fill_row(98, -INFINITY);
    EXPECT_TRUE(product.compute(handle, whole(product)));
  }
}

// Tensor cores' kernels scale the rows of a warp by a power of two where products are small: rows
// beside larger ones are not scaled, and have the same bits.
TEST_F(Invariance, OfSmallRowsBesideLargeOnes) {
  for (const InvariantCase& wanted : {kCases[0], kCases[3], kCases[4], kCases[10]}) {
    InvariantProduct product(wanted, 100, 70);
    for (int64_t i = 0; i < product.m(); ++i) product.scale_row(i, i % 2 == 0 ? -24 : 20);
    for (int64_t j = 0; j < product.n(); ++j) product.scale_column(j, j < 40 ? -22 : 10);
    Handle handle(kWorkspace);
    ASSERT_TRUE(product.compute(handle, whole(product)));
    for (const int64_t first_row : {0, 1}) {
      for (const int64_t first_column : {0, 40}) {
        Part part;
        for (int64_t i = first_row; i < product.m(); i += 2) part.rows.push_back(i);
        for (int64_t j = first_column; j < first_column + 30; ++j) part.columns.push_back(j);
        EXPECT_TRUE(product.compute(handle, part));
      }
    }
  }
}

// Each kernel that takes a batch-invariant product by name gives the bits of the plan's choice.
class InvarianceRow : public RowTest {};

TEST_P(InvarianceRow, GivesTheBitsOfOthers) {
  int computed = 0;
  for (const InvariantCase& wanted : kCases) {
    InvariantProduct product(wanted, kOnGpu ? 300 : 139, kOnGpu ? 270 : 70);
    Handle handle(kWorkspace), forced(Family::kGemm, GetParam(), kWorkspace);
    Part part = whole(product);
    if (!product.compute(forced, part)) continue;
    ++computed;
    part.padding = 3, part.offset = 1;
    product.compute(forced, part);
    ASSERT_TRUE(product.compute(handle, part)) << mygemm_last_error();
    if (HasFailure()) return;
  }
  if (computed == 0) GTEST_SKIP() << mygemm_last_error();
}

INSTANTIATE_TEST_SUITE_P(Rows, InvarianceRow, ::testing::ValuesIn(row_names(Family::kGemm)),
                         row_test_name);

}  // namespace
}  // namespace mygemm_tests
