// Unit tests of cross entropy: the rules of its arguments, which operands may share bytes, why its
// kernels refuse a call, and its line in the log.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "log.h"
#include "tighten.h"
#include "unit/plans.h"
#include "unit/problems.h"
#include "unit/refusal.h"
#include "unit/rules_in_order.h"

namespace mygemm {
namespace {

using namespace mygemm_tests;

using P = CrossEntropyProblem;

P with_dloss(int64_t stride) {
  P p = cross_entropy(4, 8, MYGEMM_R_16F);
  p.dloss = address<float>(6);
  p.stride_dloss = stride;
  return p;
}

Rules<P> cross_entropy_rules() {
  return {with_dloss(1),
          {{"rows = -1 is negative", [](P& p) { p.rows = -1; }},
           {"cols = -1 is negative", [](P& p) { p.cols = -1; }},
           {"ldx = 7 is smaller than max(1, cols) = 8", [](P& p) { p.x.ld = 7; }},
           {"lddx = 0 is smaller than max(1, cols) = 8", [](P& p) { p.dx.ld = 0; }},
           {"stride_dloss = -1 is negative", [](P& p) { p.stride_dloss = -1; }},
           {"label_smoothing = 1.5 is not from 0 to 1", [](P& p) { p.label_smoothing = 1.5f; }},
           {"z_loss = inf is not finite", [](P& p) { p.z_loss = INFINITY; }},
           {"gradient_scale = nan is not finite", [](P& p) { p.gradient_scale = NAN; }}},
          {{"x is NULL", [](P& p) { p.x.data = nullptr; }},
           {"targets = 0x10000000004 is not a multiple of 8 bytes",
            [](P& p) { p.targets = misaligned<void>(4); }},
           {"dx = 0x10000000001 is not a multiple of 2 bytes",
            [](P& p) { p.dx.data = misaligned<void>(1); }},
           {"dloss = 0x10000000002 is not a multiple of 4 bytes",
            [](P& p) { p.dloss = misaligned<float>(2); }},
           {"loss = 0x10000000001 is not a multiple of 4 bytes",
            [](P& p) { p.loss = misaligned<float>(1); }},
           {"lse = 0x10000000003 is not a multiple of 4 bytes",
            [](P& p) { p.lse = misaligned<float>(3); }}}};
}

TEST(ValidateCrossEntropy, RulesInOrder) {
  check_rules(cross_entropy_rules());
  check_quick_return<P>(cross_entropy_rules(), [](P& p) { p.rows = 0; });
  EXPECT_EQ(validate(cross_entropy(4, 0), Check::kEverything), Verdict::kDone);
}

TEST(ValidateCrossEntropy, SmoothingThatIsNoNumber) {
  P p = cross_entropy(4, 8);
  p.label_smoothing = NAN;
  EXPECT_EQ(refusal(p), "label_smoothing = nan is not from 0 to 1");
  p.label_smoothing = -0.125f;
  EXPECT_EQ(refusal(p), "label_smoothing = -0.125 is not from 0 to 1");
  p.label_smoothing = 1.0f;
  EXPECT_EQ(refusal(p), "");
}

// Without dx, its layout and dloss are not looked at; without any output there is nothing to do.
TEST(ValidateCrossEntropy, OutputsThatAreNotAskedFor) {
  P p = with_dloss(-3);
  p.dx = {nullptr, MYGEMM_R_32F, 0};
  p.dloss = misaligned<float>(1);
  EXPECT_EQ(refusal(p), "");
  p.lse = nullptr;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kOk);
  p.loss = nullptr;
  p.targets = nullptr;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kDone);
}

TEST(ValidateCrossEntropy, Overlap) {
  P p = cross_entropy(4, 8);
  p.dx.data = p.x.data;
  EXPECT_EQ(refusal(p), "");
  p.dx.type = MYGEMM_R_16F;
  EXPECT_EQ(refusal(p),
            "dx overlaps x (in place needs the same pointer, the same ld and types of one width)");
  p = cross_entropy(4, 8);
  float* x = static_cast<float*>(p.x.data);
  p.loss = x + 31;
  EXPECT_EQ(refusal(p), "loss overlaps x");
  p.loss = x + 32;
  EXPECT_EQ(refusal(p), "");
  p.lse = x + 35;
  EXPECT_EQ(refusal(p), "lse overlaps loss");
  p.lse = x + 36;
  p.targets = x + 38;
  EXPECT_EQ(refusal(p), "lse overlaps targets");
  p.targets = static_cast<float*>(p.dx.data) + 30;
  EXPECT_EQ(refusal(p), "dx overlaps targets");
  // Between the rows of x: bytes that are not read.
  p = cross_entropy(4, 8);
  p.x.ld = 16;
  p.loss = x + 8;
  EXPECT_EQ(refusal(p), "");
}

// One value for all rows, or one for each.
TEST(ValidateCrossEntropy, OverlapWithTheGradientsOfLosses) {
  for (const auto& [stride, first_free] : {std::pair{0, 1}, std::pair{1, 4}, std::pair{3, 10}}) {
    P p = with_dloss(stride);
    p.loss = const_cast<float*>(p.dloss) + first_free - 1;
    EXPECT_EQ(refusal(p), "loss overlaps dloss") << stride;
    p.loss += 1;
    EXPECT_EQ(refusal(p), "") << stride;
  }
}

TEST(ValidateCrossEntropy, SizesBeyondTheAddressSpace) {
  EXPECT_TRUE(refusal(cross_entropy(INT64_MAX, INT64_MAX)).starts_with("x spans "));
  P p = cross_entropy(2, 8);
  p.dx.ld = INT64_MAX / 4;
  EXPECT_TRUE(refusal(p).starts_with("dx spans ")) << refusal(p);
  p = with_dloss(INT64_MAX);
  EXPECT_TRUE(refusal(p).starts_with("dloss spans ")) << refusal(p);
}

TEST(ValidateCrossEntropy, IndexTypes) {
  for (int value = -1; value < 30; ++value) {
    EXPECT_EQ(valid_index_type("target_type", value), value == 10 || value == 24) << value;
  }
  EXPECT_FALSE(valid_index_type("target_type", 14));
  EXPECT_STREQ(last_error_text(), "target_type = 14 is not a mygemmIndexType_t");
}

TEST(TightenCrossEntropy, OneRow) {
  P p = cross_entropy(1, 7);
  p.x.ld = p.dx.ld = p.stride_dloss = INT64_MAX;
  EXPECT_EQ(tightened(p).x.ld, 7);
  EXPECT_EQ(tightened(p).dx.ld, 7);
  EXPECT_EQ(tightened(p).stride_dloss, 0);
  p.rows = 2;
  EXPECT_EQ(tightened(p).x.ld, INT64_MAX);
  EXPECT_EQ(tightened(p).stride_dloss, INT64_MAX);
}

std::string kernel_refusal(const P& problem, const DeviceTraits& device, const char* kernel) {
  Plan<P> plan;
  if (make_plan(problem, device, {SIZE_MAX, kernel}, &plan) == MYGEMM_STATUS_SUCCESS) return "";
  const std::string sentence = last_error_text(), colon = "cannot run this call: ";
  return sentence.substr(sentence.find(colon) + colon.size());
}

TEST(RefusalsOfCrossEntropy, OfKernels) {
  const DeviceTraits& h200 = *find_device("H200");
  const std::string too_wide = "a row has more columns than a block's registers hold";
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 8192), h200, "block"), "");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 8193), h200, "block"), too_wide);
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 16384, MYGEMM_R_16F), h200, "block"), "");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, INT64_MAX), h200, "block"), too_wide);
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 524288), h200, "cluster"), "");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 524288, MYGEMM_R_16BF), h200, "cluster"), "");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 655360), h200, "cluster"), "");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 655364), h200, "cluster"),
            "a row has more columns than a cluster's shared memory holds");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 1024), h200, "narrow"), "");
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 1025), h200, "narrow"),
            "a row has more columns than this kernel is made for");
  for (const char* wide : {"block", "cluster", "reread"}) {
    EXPECT_EQ(kernel_refusal(cross_entropy(100, 1025), h200, wide), "") << wide;
    EXPECT_EQ(kernel_refusal(cross_entropy(100, 1024), h200, wide),
              "rows as narrow as these are the narrow kernel's")
        << wide;
  }
  P apart = cross_entropy(100, 100000);
  ++apart.dx.ld;
  EXPECT_EQ(kernel_refusal(apart, h200, "cluster"), "the rows of the matrices do not lie alike");
  apart.dx.data = nullptr;  // no gradient: its layout does not matter
  EXPECT_EQ(kernel_refusal(apart, h200, "cluster"), "");
  DeviceTraits part_of_h200 = h200;
  std::fill(std::begin(part_of_h200.clusters), std::end(part_of_h200.clusters), 0);
  EXPECT_EQ(kernel_refusal(cross_entropy(100, 100000), part_of_h200, "cluster"),
            "this GPU has no clusters of as many blocks");
}

TEST(LogOfCrossEntropy, HasEveryOption) {
  P p = with_dloss(2);
  p.dx.type = MYGEMM_R_16BF;
  p.dx.ld = 9;
  p.label_smoothing = 0.1f;
  p.gradient_scale = 0.25f;
  EXPECT_EQ(describe(p),
            "cross_entropy --rows 4 --cols 8 --xtype f16 --ldx 8 --gradient apart --dxtype bf16 "
            "--lddx 9 --dloss 1 --stride-dloss 2 --gradient-scale 0.25 --loss 1 --lse 1 "
            "--target-type i64 --label-smoothing 0.100000001 --z-loss 0");
  p.dx.data = p.x.data;
  p.dloss = nullptr;
  p.lse = nullptr;
  p.target_type = MYGEMM_INDEX_32I;
  EXPECT_EQ(describe(p),
            "cross_entropy --rows 4 --cols 8 --xtype f16 --ldx 8 --gradient in-place "
            "--dxtype bf16 --lddx 9 --dloss 0 --stride-dloss 0 --gradient-scale 0.25 --loss 1 "
            "--lse 0 --target-type i32 --label-smoothing 0.100000001 --z-loss 0");
  p.dx.data = nullptr;
  EXPECT_EQ(describe(p),
            "cross_entropy --rows 4 --cols 8 --xtype f16 --ldx 8 --gradient none --loss 1 --lse 0 "
            "--target-type i32 --label-smoothing 0.100000001 --z-loss 0");
}

}  // namespace
}  // namespace mygemm
