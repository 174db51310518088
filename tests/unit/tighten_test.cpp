// Unit tests: leading dimensions and strides that place no element are replaced with small ones,
// all others are kept, and a plan does not depend on those that are replaced.
#include "tighten.h"

#include <type_traits>

#include <gtest/gtest.h>

#include "log.h"
#include "unit/plans.h"
#include "unit/problems.h"
#include "unit/refusal.h"

namespace mygemm {
namespace {

using namespace mygemm_tests;

constexpr int64_t kMost = INT64_MAX;

TEST(Tighten, ColumnsOfProducts) {
  // A is m x 1, B is 1 x n, C and D are m x n.
  GemmProblem p = with_epilogue(gemm(false, false, 37, 2, 1));
  p.a.ld = p.b.ld = kMost;
  p.d.ld = 41;
  p.a.stride = p.b.stride = p.c.stride = p.d.stride = p.epilogue.stride_bias = INT64_MIN;
  p.epilogue.stride_aux = p.sums.stride = INT64_MIN;
  const GemmProblem q = tightened(p);
  EXPECT_EQ(q.a.ld, 40);
  EXPECT_EQ(q.b.ld, kMost);  // two columns
  EXPECT_EQ(q.c.ld, 37);
  EXPECT_EQ(q.d.ld, 41);
  for (const Operand* operand : {&q.a, &q.b, &q.c, &q.d}) EXPECT_EQ(operand->stride, 0);
  EXPECT_EQ(q.epilogue.stride_bias, 0);
  EXPECT_EQ(q.epilogue.stride_aux, 0);
  EXPECT_EQ(q.sums.stride, 0);
  EXPECT_TRUE(q.fused);
}

TEST(Tighten, TransposedOperandsAreSeenAsTheyAreStored) {
  GemmProblem p = gemm(true, true, 1, 6, 5);  // A is 5 x 1, B is 6 x 5
  p.a.ld = p.b.ld = 1000;
  GemmProblem q = tightened(p);
  EXPECT_EQ(q.a.ld, 8);
  EXPECT_EQ(q.b.ld, 1000);
  p = gemm(false, true, 6, 1, 1);  // A is 6 x 1, B is 1 x 1, C is 6 x 1
  p.a.ld = p.b.ld = p.c.ld = p.d.ld = 1000;
  q = tightened(p);
  EXPECT_EQ(q.a.ld, 8);
  EXPECT_EQ(q.b.ld, 4);
  EXPECT_EQ(q.c.ld, 8);
  EXPECT_TRUE(q.in_place());
  EXPECT_FALSE(q.fused);
}

TEST(Tighten, EmptyAndEndlessColumns) {
  GemmProblem p = gemm(false, false, 6, 3, 0);  // A is 6 x 0, B is 0 x 3
  p.a.ld = p.b.ld = kMost;
  EXPECT_EQ(tightened(p).a.ld, 8);
  EXPECT_EQ(tightened(p).b.ld, kMost);
  p = gemm(false, false, kMost, 1, 1);
  EXPECT_EQ(tightened(p).d.ld, kMost);
}

TEST(Tighten, StridesOfBatchesAreKept) {
  GemmProblem p = with_epilogue(gemm(false, false, 8, 1, 5, 3));
  p.b.ld = p.d.ld = kMost;
  p.epilogue.stride_aux = 64, p.sums.stride = -8;
  const GemmProblem q = tightened(p);
  EXPECT_EQ(q.a.stride, p.a.stride);
  EXPECT_EQ(q.d.stride, p.d.stride);
  EXPECT_EQ(q.epilogue.stride_bias, 8);
  EXPECT_EQ(q.epilogue.stride_aux, 64);
  EXPECT_EQ(q.sums.stride, -8);
  EXPECT_EQ(q.b.ld, 8);
  EXPECT_EQ(q.d.ld, 8);
}

TEST(Tighten, RowsOfSoftmaxAndTransposes) {
  SoftmaxProblem s = softmax_backward(1, 7);
  s.in.ld = s.dy.ld = s.out.ld = kMost;
  EXPECT_EQ(tightened(s).in.ld, 7);
  EXPECT_EQ(tightened(s).dy.ld, 7);
  EXPECT_EQ(tightened(s).out.ld, 7);
  s.rows = 2;
  EXPECT_EQ(tightened(s).in.ld, kMost);
  TransposeProblem t = transpose(4, 1, 9);
  t.ldin = t.ldout = t.stride_in = kMost;
  EXPECT_EQ(tightened(t).ldin, 9);
  EXPECT_EQ(tightened(t).ldout, kMost);
  EXPECT_EQ(tightened(t).stride_in, 0);
  t = transpose(4, 9, 1, 2);
  t.ldin = t.ldout = t.stride_in = kMost;
  EXPECT_EQ(tightened(t).ldin, kMost);
  EXPECT_EQ(tightened(t).ldout, 9);
  EXPECT_EQ(tightened(t).stride_in, kMost);
}

void loosen(GemmProblem* p) {
  if (p->a_cols() <= 1) p->a.ld = kMost;
  if (p->b_cols() <= 1) p->b.ld = kMost - 1;
  if (p->n <= 1) p->c.ld = p->d.ld = kMost - 2;
  if (p->batch_count <= 1) p->a.stride = p->b.stride = INT64_MIN;
}

void loosen(SoftmaxProblem* p) {
  if (p->rows <= 1) p->in.ld = p->dy.ld = p->out.ld = kMost;
}

void loosen(CrossEntropyProblem* p) {
  if (p->rows <= 1) p->x.ld = p->dx.ld = kMost;
  if (p->rows <= 1) p->stride_dloss = kMost;
}

void loosen(TransposeProblem* p) {
  if (p->rows <= 1) p->ldin = kMost;
  if (p->cols <= 1) p->ldout = kMost - 1;
  if (p->batch_count <= 1) p->stride_in = INT64_MIN;
}

template <class Problem>
class TightenOf : public testing::Test {};
TYPED_TEST_SUITE(TightenOf, Problems, OperationName);

// The same problem, and so the same plan, text and log.
TYPED_TEST(TightenOf, ForgetsWhatPlacesNoElement) {
  int vectors = 0;
  for_random_problems<TypeParam>(9, 1500, [&](TypeParam problem, const DeviceTraits&) {
    const TypeParam tight = tightened(problem);
    ASSERT_EQ(refusal(tight, Check::kShapesOnly), "");
    EXPECT_EQ(describe(tightened(tight)), describe(tight));
    loosen(&problem);
    vectors += describe(problem) != describe(tight) ? 1 : 0;
    EXPECT_EQ(describe(tightened(problem)), describe(tight));
  });
  EXPECT_GT(vectors, 20);
}

// Where there are several lines, plans take leading dimensions of any size as they are.
TYPED_TEST(TightenOf, PlansOfAnyLeadingDimension) {
  for_random_problems<TypeParam>(10, 300, [&](TypeParam problem, const DeviceTraits& device) {
    if constexpr (std::is_same_v<TypeParam, GemmProblem>) {
      problem.a.ld = problem.b.ld = kMost - 3;
      problem.c.ld = problem.d.ld = kMost;
    } else if constexpr (std::is_same_v<TypeParam, SoftmaxProblem>) {
      problem.in.ld = problem.dy.ld = problem.out.ld = kMost - 7;
    } else if constexpr (std::is_same_v<TypeParam, CrossEntropyProblem>) {
      problem.x.ld = problem.dx.ld = kMost - 7;
    } else {
      problem.ldin = kMost - 15;
      problem.ldout = kMost;
    }
    EXPECT_NE(planned(tightened(problem), device, 0).kernel, nullptr);
  });
}

}  // namespace
}  // namespace mygemm
