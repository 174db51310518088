// Unit tests of grouped products: the sizes of each, the rules, the widths of tiles, the plan.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "grouped_sizes.h"
#include "kernels/grouped/list.h"
#include "plan/plan.h"
#include "unit/problems.h"
#include "unit/refusal.h"
#include "validate.h"

namespace mygemm_tests {
namespace {

using namespace mygemm;

constexpr size_t kWorkspace = size_t{32} << 20;

const DeviceTraits& h200() { return *find_device("H200"); }

// Products of 8 x n_i x 6 whose n is stacked.
struct StackedN {
  std::vector<int32_t> sizes;

  GroupedProblem problem(int64_t total, int64_t most) const {
    GroupedProblem p = {gemm(false, false, 8, most, 6, static_cast<int64_t>(sizes.size())), {}};
    p.groups.n = sizes.data();
    p.groups.total = total;
    p.groups.stacked = Stacked::kN;
    return p;
  }
};

TEST(GroupedSizes, OfStackedProductsBeginBehindEachOther) {
  const StackedN stacked{{5, 0, 7}};
  const GroupedProblem p = stacked.problem(12, 9);
  int64_t sum = 0;
  const int64_t begins[] = {0, 5, 5};
  for (int64_t i = 0; i < 3; ++i) {
    const ProductSizes sizes = sizes_of(p, i, sum);
    EXPECT_EQ(sizes.before, begins[i]);
    EXPECT_EQ(sizes.n, stacked.sizes[static_cast<size_t>(i)]);
    const GemmProblem q = product_of(p, i, sizes);
    EXPECT_EQ(q.b.data, p.most.b.at(begins[i] * p.most.b.ld));
    EXPECT_EQ(q.d.data, p.most.d.at(begins[i] * p.most.d.ld));
    EXPECT_EQ(q.a.data, p.most.a.at(i * p.most.a.stride));
    EXPECT_EQ(q.batch_count, 1);
    sum += stacked_size(p, sizes);
  }
}

TEST(GroupedSizes, EndsAreSumsOfSizes) {
  const StackedN stacked{{5, 5, 12}};
  GroupedProblem p = stacked.problem(12, 9);
  p.groups.ends = true;
  EXPECT_EQ(sizes_of(p, 1, 0).n, 0);
  EXPECT_EQ(sizes_of(p, 2, 0).n, 7);
  EXPECT_EQ(sizes_of(p, 2, 0).before, 5);
}

TEST(GroupedSizes, BeyondTheCallsAreCutOff) {
  const StackedN stacked{{-3, 700, 7}};
  const GroupedProblem p = stacked.problem(12, 9);
  EXPECT_EQ(sizes_of(p, 0, 0).n, 0);
  EXPECT_EQ(sizes_of(p, 1, 0).n, 9);
  EXPECT_EQ(sizes_of(p, 2, 9).n, 3);
  EXPECT_EQ(sizes_of(p, 2, 90).n, 0);
}

TEST(ValidateGrouped, SizesInHostMemory) {
  EXPECT_EQ(refusal(StackedN{{5, 0, 7}}.problem(12, 9)), "");
  EXPECT_EQ(refusal(StackedN{{5, -1, 7}}.problem(12, 9)),
            "n[1] = -1 of groups is not within 0 and n = 9");
  EXPECT_EQ(refusal(StackedN{{5, 10, 7}}.problem(12, 9)),
            "n[1] = 10 of groups is not within 0 and n = 9");
  EXPECT_EQ(refusal(StackedN{{5, 1, 7}}.problem(12, 9)),
            "n[0] to n[2] of groups add up to more than total = 12");
  EXPECT_EQ(refusal(StackedN{{5}}.problem(-1, 9)), "total = -1 is negative");
  const StackedN stacked{{5, 4, 12}};
  GroupedProblem ends = stacked.problem(12, 9);
  ends.groups.ends = true;
  EXPECT_EQ(refusal(ends), "n[1] = 4 of groups (ends = 1) is not within 5 and that + n = 9");
  const StackedN longer{{5, 5, 13}};
  ends.groups.n = longer.sizes.data();
  EXPECT_EQ(refusal(ends), "n[2] = 13 of groups (ends = 1) exceeds total = 12");
}

TEST(GroupedSizes, EndsBelow0AreCutOffToo) {
  const StackedN stacked{{-5, 10, 12}};
  GroupedProblem p = stacked.problem(12, 12);
  p.groups.ends = true;
  EXPECT_EQ(sizes_of(p, 0, 0).n, 0);
  EXPECT_EQ(sizes_of(p, 1, 0).n, 10);
  EXPECT_EQ(sizes_of(p, 2, 0).before, 10);
}

TEST(ValidateGrouped, SizesOnTheDeviceAreNotRead) {
  GroupedProblem p = StackedN{{5}}.problem(12, 9);
  p.groups.n = address<void>(9);
  p.groups.on_device = true;
  EXPECT_EQ(refusal(p), "");
  p.groups.n = static_cast<const char*>(p.groups.n) + 2;
  EXPECT_NE(refusal(p).find("of groups is not a multiple of 4 bytes"), std::string::npos);
}

TEST(ValidateGrouped, LeadingDimensions) {
  const std::vector<int64_t> lds = {8, 5}, sizes = {8, 6};
  GroupedProblem p = {gemm(false, false, 8, 4, 6, 2), {}};
  p.groups.type = MYGEMM_INDEX_64I;
  p.groups.m = sizes.data();
  p.groups.lda = lds.data();
  EXPECT_EQ(refusal(p), "lda[1] = 5 of groups is smaller than max(1, m) = 6");
  const std::vector<int64_t> legal = {8, 6};
  p.groups.lda = legal.data();
  p.most.a.ld = 0;  // does not count
  EXPECT_EQ(refusal(p), "");
  const std::vector<int64_t> huge = {8, int64_t{1} << 61};
  p.groups.lda = huge.data();
  EXPECT_NE(refusal(p).find("of groups places 6 columns beyond the address space"),
            std::string::npos);
  p.groups.lda = legal.data();
  p.most.b.ld = 3;
  EXPECT_EQ(refusal(p), "ldb = 3 is smaller than max(1, k) = 6 (transb = N)");
}

TEST(ValidateGrouped, StackedMatricesHaveTheTotal) {
  const std::vector<int32_t> sizes = {4, 4};
  GroupedProblem p = {gemm(false, false, 8, 4, 6, 2), {}};
  p.groups.m = sizes.data();
  p.groups.total = 10;
  p.groups.stacked = Stacked::kM;
  EXPECT_EQ(refusal(p), "lda = 8 is smaller than max(1, m) = 10 (transa = N)");
  p.most.a.ld = p.most.d.ld = p.most.c.ld = 10;
  EXPECT_EQ(refusal(p), "");
  p.most.a.data = p.most.d.data;
  EXPECT_EQ(refusal(p), "D overlaps A");
}

// The tiles of a product cover its columns once, in widths that differ by one unit at most.
TEST(GroupedTiles, HaveEvenColumns) {
  for (int64_t columns = 1; columns < 3000; ++columns) {
    const auto tiles = static_cast<int>(ceil_div(columns, 256));
    int covered = 0, least = 256, most = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const grouped::Columns part = grouped::even_columns(columns, tile, tiles);
      ASSERT_EQ(part.first, covered);
      covered += part.count;
      least = std::min(least, part.count), most = std::max(most, part.count);
    }
    ASSERT_GE(covered, columns);
    ASSERT_LT(covered - columns, grouped::kUnit);
    ASSERT_LE(most, 256);
    ASSERT_LE(most - least, grouped::kUnit);
  }
}

const char* kernel_of(const GroupedProblem& p, size_t workspace = kWorkspace) {
  Plan<GroupedProblem> plan;
  EXPECT_EQ(make_plan(p, h200(), {workspace, nullptr}, &plan), MYGEMM_STATUS_SUCCESS)
      << last_error_text();
  return plan.kernel ? plan.kernel->name : "none";
}

TEST(GroupedPlan, TokensOfExperts) {
  GroupedProblem p = {of_16_bits(gemm(true, false, 1536, 16384, 4096, 64)), {}};
  p.groups.n = address<void>(9);
  p.groups.total = 16384;
  p.groups.stacked = Stacked::kN;
  p.groups.on_device = true;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16");
  p.most.b.ld += 1;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16_lines");
  p.most.b.ld -= 1;
  p.groups.k = p.groups.n;
  p.groups.n = nullptr;
  p.groups.stacked = Stacked::kK;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16_lines");
  p.most.transa = false, p.most.transb = true;
  p.most.a.ld = 1536, p.most.b.ld = 4096;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16");
  p.most = gemm(true, false, 1536, 16384, 4096, 64);
  EXPECT_STREQ(kernel_of(p), "grouped_warptiled_64x64");
}

// A tensor map has elements.
TEST(GroupedPlan, MapsOfNothingAreNotMade) {
  GroupedProblem p = {of_16_bits(gemm(false, true, 64, 64, 64, 4)), {}};
  p.groups.k = address<void>(9);
  p.groups.stacked = Stacked::kK;
  p.groups.on_device = true;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16_lines");
  p.groups.total = 64;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16");
  p.most.epilogue.alpha.value = 0;
  EXPECT_STREQ(kernel_of(p), "grouped_tensor16_lines");
}

TEST(GroupedPlan, ProductsThatFillTheGpuAreComputedOneByOne) {
  const std::vector<int32_t> sizes = {4096, 3000};
  GroupedProblem p = {gemm(false, false, 4096, 4096, 4096, 2), {}};
  p.groups.n = sizes.data();
  EXPECT_STREQ(kernel_of(p), "one_by_one");
  EXPECT_STREQ(kernel_of(p, 0), "one_by_one");
}

TEST(GroupedPlan, SizesOnTheDeviceNeedAWorkspace) {
  GroupedProblem p = {gemm(false, false, 64, 64, 64, 2), {}};
  p.groups.n = address<void>(9);
  p.groups.on_device = true;
  Plan<GroupedProblem> plan;
  EXPECT_EQ(make_plan(p, h200(), {}, &plan), MYGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(kernel_of(p), std::string("grouped_warptiled_64x64"));
}

}  // namespace
}  // namespace mygemm_tests
