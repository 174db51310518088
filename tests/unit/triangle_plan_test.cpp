// Unit tests: how triangles of products are divided.
#include <gtest/gtest.h>

#include "plan/triangle.h"
#include "unit/problems.h"

namespace mygemm_tests {
namespace {

using namespace mygemm;

GemmProblem triangle(int64_t n, int64_t k, mygemmFill_t fill = MYGEMM_FILL_LOWER) {
  GemmProblem p = gemm(false, true, n, n, k);
  p.fill = fill;
  return p;
}

TriangleSteps divided(int64_t n, int64_t k, size_t workspace) {
  return divide_triangle(triangle(n, k), *find_device("H200"), {workspace, nullptr});
}

constexpr size_t kWorkspace = size_t{32} << 20;

TEST(TrianglePlan, LargeOnesAreDivided) {
  for (int64_t n = 3000; n < 200000; n += n / 7) {
    const TriangleSteps steps = divided(n, 2048, kWorkspace);
    EXPECT_GE(steps.block, 128) << n;
    EXPECT_LE(steps.block, 1024) << n;
    EXPECT_EQ(steps.block % 32, 0) << n;
    EXPECT_GE(steps.block << steps.levels, n) << n;
    EXPECT_LE(steps.sums_bytes, kWorkspace / 2) << n;
    EXPECT_GE(steps.at_once, 1) << n;
  }
}

TEST(TrianglePlan, SmallOnesAreWholeOrOfOneKernel) {
  EXPECT_EQ(divided(100, 50000, kWorkspace).block, 100);
  EXPECT_EQ(divided(64, 64, kWorkspace).block, 0);
  EXPECT_EQ(divided(1024, 64, kWorkspace).block, 0);
}

TEST(TrianglePlan, SmallWorkspacesMakeSmallBlocks) {
  EXPECT_EQ(divided(4096, 2048, 0).block, 0);
  EXPECT_EQ(divided(4096, 2048, 2 * 128 * 128 * 4 - 1).block, 0);
  EXPECT_EQ(divided(4096, 2048, 2 * 128 * 128 * 4).block, 128);
  EXPECT_EQ(divided(4096, 2048, 2 * 128 * 128 * 4).at_once, 1);
  EXPECT_EQ(divided(4096, 2048, 7 * 128 * 128 * 4).at_once, 3);
}

TEST(TrianglePlan, OneKernelWhereBlocksCannotBeHad) {
  GemmProblem p = triangle(4096, 2048);
  const DeviceTraits& device = *find_device("H200");
  p.pointer_arrays = true;
  EXPECT_EQ(divide_triangle(p, device, {kWorkspace, nullptr}).block, 0);
  p = triangle(4096, 0);
  EXPECT_EQ(divide_triangle(p, device, {kWorkspace, nullptr}).block, 0);
  EXPECT_EQ(divide_triangle(triangle(4096, 2048), device, {kWorkspace, "tiled"}).block, 0);
  EXPECT_GT(divide_triangle(triangle(4096, 2048), device, {kWorkspace, "tma_128x128"}).block, 0);
}

TEST(TrianglePlan, WorkspaceOfTheQueryChangesNothingMore) {
  for (const int64_t n : {1000, 3000, 5000, 16384}) {
    size_t bytes = 0;
    ASSERT_EQ(triangle_workspace(triangle(n, 777), *find_device("H200"), nullptr, &bytes),
              MYGEMM_STATUS_SUCCESS);
    const TriangleSteps with = divided(n, 777, bytes), with_more = divided(n, 777, 16 * bytes);
    EXPECT_EQ(with.block, with_more.block) << n;
    EXPECT_EQ(with.at_once, with_more.at_once) << n;
  }
}

// Sizes that no memory has are explained without an overflow.
TEST(TrianglePlan, HugeOnesAreExplained) {
  for (const int64_t n : {int64_t{1} << 31, int64_t{1} << 45, INT64_MAX / 2, INT64_MAX - 7}) {
    GemmProblem p = triangle(n, 1000);
    p.a.ld = p.b.ld = p.c.ld = p.d.ld = INT64_MAX;
    for (const DeviceTraits& device : all_devices()) {
      EXPECT_NE(explain_triangle(p, device, {kWorkspace, nullptr}, p), "");
      size_t bytes = 0;
      EXPECT_EQ(triangle_workspace(p, device, nullptr, &bytes), MYGEMM_STATUS_SUCCESS);
    }
  }
}

// Elements of rectangles lie in the triangle, and their operands are those of D's rows and columns.
TEST(TrianglePlan, PartsBeginWhereTheyShould) {
  for (const bool upper : {false, true}) {
    GemmProblem p = triangle(4000, 100, upper ? MYGEMM_FILL_UPPER : MYGEMM_FILL_LOWER);
    const TrianglePart part = rectangle(p, 1024, 256, 200, 3);
    EXPECT_EQ(part.i, upper ? 1024 : 1280);
    EXPECT_EQ(part.j, upper ? 1280 : 1024);
    EXPECT_EQ(part.rows, upper ? 256 : 200);
    EXPECT_EQ(part.columns, upper ? 200 : 256);
    for (const bool trans : {false, true}) {
      p.transa = trans, p.transb = !trans;
      p.a.ld = 4100, p.b.ld = 4200, p.d.ld = p.c.ld = 4300;
      const GemmProblem q = part_of(p, 0, part);
      const auto offset = [](const Operand& of, const Operand& in) {
        return static_cast<float*>(of.data) - static_cast<float*>(in.data);
      };
      EXPECT_EQ(offset(q.a, p.a), trans ? part.i * 4100 : part.i);
      EXPECT_EQ(offset(q.b, p.b), trans ? part.j * 4200 : part.j);
      EXPECT_EQ(offset(q.d, p.d), part.i + part.j * 4300);
      EXPECT_EQ(q.a.stride, trans ? 512 * 4100 : 512);
      EXPECT_EQ(q.d.stride, 512 * 4301);
      EXPECT_TRUE(q.in_place());
      EXPECT_EQ(q.batch_count, 3);
    }
  }
}

}  // namespace
}  // namespace mygemm_tests
