// Unit tests: how packed products are divided into parts.
#include "kernels/gemm/packed.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/plan.h"
#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm_tests {
namespace {

using namespace mygemm;

const DeviceTraits& h200() { return *find_device("H200"); }

// BF16 operands, in columns that begin at multiples of 2 bytes.
GemmProblem misaligned(int64_t m, int64_t n, int64_t k) {
  return of_16_bits(gemm(true, false, m, n, k));
}

std::optional<GemmConfig> packed(const GemmProblem& p, size_t workspace) {
  return configured(gemm_kernel("packed16"), p, h200(), {workspace, "packed16"});
}

TEST(Packed, OperandsAreWholeWhereTheyFit) {
  const GemmProblem p = misaligned(4095, 4093, 4097);
  const auto config = packed(p, SIZE_MAX);
  ASSERT_TRUE(config);
  const PackedParts& parts = config->packed;
  EXPECT_TRUE(parts.packs_a && parts.packs_b);
  EXPECT_EQ(parts.m, p.m);
  EXPECT_EQ(parts.n, p.n);
  const auto rounded = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
  EXPECT_EQ(parts.bytes, rounded(4095 * 4160 * 2) + rounded(4093 * 4160 * 2));
  EXPECT_EQ(std::string(planned(p, h200(), SIZE_MAX).kernel->name), "packed16");
}

TEST(Packed, ColumnsAreWholeLinesWhereThatMakesThemLittleLonger) {
  EXPECT_EQ(packed_ld(4095, MYGEMM_R_16F), 4096);
  EXPECT_EQ(packed_ld(4097, MYGEMM_R_16F), 4160);
  EXPECT_EQ(packed_ld(65, MYGEMM_R_16BF), 72);
  EXPECT_EQ(packed_ld(1, MYGEMM_R_32F), 4);
  EXPECT_EQ(packed_ld(31, MYGEMM_R_32F), 32);
}

TEST(Packed, OnlyOperandsThatTensorMapsCannotDescribe) {
  GemmProblem p = of_16_bits(gemm(false, false, 1001, 2000, 512));  // columns of B: 512 elements
  EXPECT_TRUE(packed(p, SIZE_MAX)->packed.packs_a);
  EXPECT_FALSE(packed(p, SIZE_MAX)->packed.packs_b);
  p.a.ld = 1008;
  EXPECT_FALSE(packed(p, SIZE_MAX));
  p.b.pointers = reinterpret_cast<void* const*>(&p);
  EXPECT_TRUE(packed(p, SIZE_MAX)->packed.packs_b);
}

TEST(Packed, OfAThinProductOnlyTheThinOperand) {
  for (const bool long_is_m : {false, true}) {
    const GemmProblem p = long_is_m ? misaligned(13613, 15, 13045) : misaligned(15, 13613, 13045);
    const auto config = packed(p, SIZE_MAX);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->packed.packs_a, !long_is_m);
    EXPECT_EQ(config->packed.packs_b, long_is_m);
    EXPECT_EQ(std::string(config->packed.kernel->name), "thin16_mma_16");
  }
  EXPECT_TRUE(packed(misaligned(17, 13613, 13045), SIZE_MAX)->packed.packs_b);
}

TEST(Packed, PartsFitTheWorkspaceAndCoverTheProduct) {
  Random random(1);
  int divided = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    GemmProblem p = misaligned(random.integer(1, 9000), random.integer(1, 9000),
                               2 * random.integer(1, 4000) + 1);
    p.batch_count = random.integer(1, 5);
    const auto workspace = static_cast<size_t>(random.integer(1, 64)) << random.integer(10, 22);
    const auto config = packed(p, workspace);
    if (!config) continue;
    const PackedParts& parts = config->packed;
    EXPECT_LE(parts.bytes, config->workspace_bytes);
    EXPECT_LE(config->workspace_bytes, workspace);
    EXPECT_TRUE(parts.m == p.m || parts.m % 256 == 0) << parts.m;
    EXPECT_TRUE(parts.n == p.n || parts.n % 256 == 0) << parts.n;
    // Parts are of matrices, or of a batch.
    EXPECT_TRUE(parts.matrices == 1 || (parts.m == p.m && parts.n == p.n));
    const int64_t ld = packed_ld(p.k, p.a.type);
    const int64_t lines = (parts.packs_a ? parts.m : 0) + (parts.packs_b ? parts.n : 0);
    EXPECT_LE(static_cast<size_t>(lines * parts.matrices * ld * 2), parts.bytes);
    EXPECT_NE(parts.kernel, nullptr);
    divided += parts.m < p.m || parts.n < p.n || parts.matrices < p.batch_count;
  }
  EXPECT_GT(divided, 500);
}

TEST(Packed, TheOrderOfSumsIsThatOfTheProduct) {
  GemmProblem p = misaligned(3001, 2999, 1001);
  p.invariant = true;
  const auto config = packed(p, SIZE_MAX);
  ASSERT_TRUE(config);
  const GemmFacts facts(p, h200());
  EXPECT_EQ(config->packed.kernel->figures.order, facts.order);
}

}  // namespace
}  // namespace mygemm_tests
