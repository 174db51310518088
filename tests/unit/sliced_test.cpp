// Unit tests: how sliced products are cut, and the divisions that their kernels do without.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/divisor.h"
#include "kernels/gemm/sliced.h"
#include "plan/plan.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using mygemm_tests::gemm;
using mygemm_tests::gemm_row;

// Numbers around powers of two, and some of no kind.
std::vector<unsigned> numbers() {
  std::vector<unsigned> values = {1, 3, 5, 7, 132, 1000003, 715827883, 2147483646, 2147483647};
  for (int bit = 1; bit < 31; ++bit) {
    for (const int beside : {-1, 0, 1})
      values.push_back((1u << bit) + static_cast<unsigned>(beside));
  }
  return values;
}

TEST(Divisor, GivesTheQuotientOfAllNumbersBelowTwoToThe31) {
  for (const unsigned divisor : numbers()) {
    const Divisor by(divisor);
    EXPECT_EQ(by.value(), divisor);
    EXPECT_EQ(by.quotient(0), 0u);
    for (const unsigned number : numbers()) {
      ASSERT_EQ(by.quotient(number), number / divisor) << number << " / " << divisor;
      const unsigned multiple = number - number % divisor;
      ASSERT_EQ(by.quotient(multiple), multiple / divisor) << multiple << " / " << divisor;
      if (multiple == 0) continue;
      ASSERT_EQ(by.quotient(multiple - 1), (multiple - 1) / divisor) << multiple << " - 1";
    }
  }
}

unsigned log2_slices(const char* row, int64_t m, int64_t n, int64_t k, const char* device) {
  return log2_slices_of(gemm_row(row), gemm(false, false, m, n, k), *find_device(device));
}

TEST(Slices, AreAsManyAsResideAtOnce) {
  EXPECT_EQ(log2_slices("sliced_32x16", 32, 16, 100000, "H200"), 3u);
  // Clusters of 8, 4 and 2 on an H200: 15, 30 and 66, of two blocks a multiprocessor each.
  EXPECT_EQ(log2_slices("sliced_32x16", 32 * 30, 16, 100000, "H200"), 3u);
  EXPECT_EQ(log2_slices("sliced_32x16", 32 * 31, 16, 100000, "H200"), 2u);
  EXPECT_EQ(log2_slices("sliced_32x16", 32 * 61, 16, 100000, "H200"), 1u);
  EXPECT_EQ(log2_slices("sliced_32x16", 32 * 133, 16, 100000, "H200"), 0u);
}

TEST(Slices, AreNoShorterThanPays) {
  EXPECT_EQ(log2_slices("sliced_32x16", 32, 16, 2 * kLeastSlice - 1, "H200"), 0u);
  EXPECT_EQ(log2_slices("sliced_32x16", 32, 16, 2 * kLeastSlice, "H200"), 1u);
  EXPECT_EQ(log2_slices("sliced_32x16", 32, 16, 4 * kLeastSlice, "H200"), 2u);
}

TEST(Slices, NeedClustersAndARowThatAddsUp) {
  EXPECT_EQ(log2_slices("sliced_32x16", 32, 16, 100000, "A100"), 0u);
  EXPECT_EQ(log2_slices("sliced_32x32", 32, 16, 100000, "H200"), 0u);
}

}  // namespace
}  // namespace mygemm
