// Unit tests: the reasons why kernels cannot run, as the plan gives them for a forced kernel.
#include <algorithm>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "unit/plans.h"
#include "unit/problems.h"

namespace mygemm {
namespace {

using namespace mygemm_tests;

template <class Problem>
class Refusal : public testing::Test {};
TYPED_TEST_SUITE(Refusal, Problems, OperationName);

TYPED_TEST(Refusal, OfUnknownNames) {
  const TypeParam problem{};
  const std::string variable = force_variable(problem);
  TypeParam any;
  Random random(8);
  random_problem(random, &any);
  for (const DeviceTraits& device : all_devices()) {
    // The other backend's kernels are as unknown as a misspelling.
    for (const std::string name : {"nonsense", "", "NAIVE", device.cc ? "host_naive" : "naive"}) {
      Plan<TypeParam> plan;
      EXPECT_EQ(make_plan(any, device, {SIZE_MAX, name.c_str()}, &plan),
                MYGEMM_STATUS_NOT_SUPPORTED);
      EXPECT_EQ(last_error_text(), variable + " = " + name +
                                       " cannot run this call: there is no such kernel for this "
                                       "device");
    }
  }
}

template <class Problem>
std::string refusal(const Problem& problem, const DeviceTraits& device, const char* kernel,
                    size_t workspace) {
  Plan<Problem> plan;
  const Status status = make_plan(problem, device, {workspace, kernel}, &plan);
  if (status == MYGEMM_STATUS_SUCCESS) return "";
  EXPECT_EQ(status, MYGEMM_STATUS_NOT_SUPPORTED);
  const std::string sentence = last_error_text(), colon = "cannot run this call: ";
  return sentence.substr(sentence.find(colon) + colon.size());
}

TEST(Refusals, OfGemmKernels) {
  const DeviceTraits& h200 = *find_device("H200");
  const auto deep = gemm(false, false, 64, 64, 65536);
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", SIZE_MAX), "");
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", 0), "the workspace is too small");
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", 2 * 64 * 64 * 4 - 1), "the workspace is too small");
  EXPECT_EQ(refusal(deep, h200, "splitk_64x64", 2 * 64 * 64 * 4), "");
  EXPECT_EQ(refusal(gemm(false, false, 8192, 8192, 8192), h200, "splitk_64x64", SIZE_MAX),
            "k is too short to split, or the GPU is full without");
  EXPECT_EQ(refusal(gemm(false, false, 64, 64, 0), h200, "splitk_64x64", SIZE_MAX),
            "k is too short to split, or the GPU is full without");
  EXPECT_EQ(refusal(gemm(false, false, INT64_MAX, 1, 1), h200, "tiled", 0),
            "more block tiles than a grid can have");
  EXPECT_EQ(refusal(deep, host_device(false), "host_cblas", 0),
            "no CBLAS was found on this machine");
  EXPECT_EQ(refusal(deep, host_device(true), "host_cblas", 0), "");
}

TEST(Refusals, OfSoftmaxKernels) {
  const DeviceTraits& h200 = *find_device("H200");
  EXPECT_EQ(refusal(softmax(100, 513), h200, "warp", 0),
            "a row has more columns than a warp's registers hold");
  EXPECT_EQ(refusal(softmax(100, 77, MYGEMM_R_16F), h200, "bundle", 0), "");
  EXPECT_EQ(refusal(softmax(100, 80, MYGEMM_R_16F), h200, "bundle", 0),
            "the rows consist of whole packs");
  EXPECT_EQ(refusal(softmax(100, 77), h200, "bundle", 0),
            "other kernels are fast at this number of columns");
  SoftmaxProblem with_gaps = softmax(100, 77, MYGEMM_R_16F);
  ++with_gaps.in.ld;
  EXPECT_EQ(refusal(with_gaps, h200, "bundle", 0), "the rows have gaps between them");
  SoftmaxProblem off_a_pack = softmax(100, 80, MYGEMM_R_16F);
  off_a_pack.out.data = static_cast<char*>(off_a_pack.out.data) + 2;
  EXPECT_EQ(refusal(off_a_pack, h200, "bundle", 0),
            "the rows are short and a multiple of 8 columns");
  EXPECT_EQ(refusal(softmax(100, 32769), h200, "block", 0),
            "a row has more columns than a block's registers hold");
  EXPECT_EQ(refusal(softmax(100, 32768), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax(100, 32768, MYGEMM_R_16F), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax_backward(100, 32768, MYGEMM_R_16F), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax_backward(100, 8192), h200, "block", 0), "");
  EXPECT_NE(refusal(softmax_backward(100, 8196), h200, "block", 0), "");
  EXPECT_NE(refusal(softmax(100, INT64_MAX), h200, "block", 0), "");
  EXPECT_EQ(refusal(softmax(1, 4096), h200, "cluster", SIZE_MAX),
            "a block's registers hold a row, and its bits must not depend on how many there are");
  EXPECT_EQ(refusal(softmax(1, 4096), h200, "block_cluster", 0),
            "made for rows of which a thread of a block holds eight packs");
  EXPECT_EQ(refusal(softmax(1, 100000), h200, "block_cluster", 0),
            "made for rows of which a thread of a block holds eight packs");
  EXPECT_EQ(refusal(softmax(33, 32000), h200, "block_cluster", 0), "");
  EXPECT_EQ(refusal(softmax(34, 32000), h200, "block_cluster", 0),
            "rows are many enough for a block each");
  EXPECT_EQ(refusal(softmax(1, 4096), h200, "wide_cluster", 0),
            "a block's registers hold a row, and its bits must not depend on how many there are");
  EXPECT_EQ(refusal(softmax(1, 655360), h200, "wide_cluster", 0), "");
  EXPECT_EQ(refusal(softmax(1, 655361), h200, "wide_cluster", 0),
            "a row has more tiles than a cluster's warps hold");
  EXPECT_EQ(refusal(softmax(100, 100000), h200, "split", 0), "the workspace is too small");
  EXPECT_EQ(refusal(softmax(100, 2000000), h200, "cluster", 0),
            "a row has more columns than a cluster that can run here holds");
  SoftmaxProblem apart = softmax(100, 100000);
  ++apart.out.ld;
  EXPECT_EQ(refusal(apart, h200, "cluster", 0), "the rows of the matrices do not lie alike");
  DeviceTraits part_of_h200 = h200;
  std::fill(std::begin(part_of_h200.clusters), std::end(part_of_h200.clusters), 0);
  EXPECT_EQ(refusal(softmax(100, 100000), part_of_h200, "cluster", 0),
            "a row has more columns than a cluster that can run here holds");
  EXPECT_EQ(refusal(softmax(1, 100000), part_of_h200, "wide_cluster", 0),
            "no cluster of 8 blocks can run here");
}

TEST(Refusals, OfTransposeKernels) {
  const DeviceTraits& h200 = *find_device("H200");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 100), h200, "tiled", 0), "not in place");
  EXPECT_EQ(refusal(transpose(4, 100, 100), h200, "square_in_place", 0),
            "only for transposes in place");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 101), h200, "square_in_place", 0),
            "only for square matrices with ldin = ldout");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 101), h200, "through_workspace", 40399),
            "the workspace is too small");
  EXPECT_EQ(refusal(transpose_in_place(4, 100, 101), h200, "through_workspace", 40400), "");
  EXPECT_EQ(
      refusal(transpose_in_place(4, 1, 2, int64_t{1} << 32), h200, "through_workspace", SIZE_MAX),
      "more tiles than a grid can have");
  EXPECT_EQ(refusal(transpose(1, INT64_MAX, 1), h200, "tiled", 0),
            "more tiles than a grid can have");
  EXPECT_EQ(refusal(transpose(4, 100, 101), h200, "vector", 0),
            "rows do not all begin at multiples of 16 bytes");
  EXPECT_EQ(refusal(transpose(4, 100, 100), h200, "vector", 0), "");
  EXPECT_EQ(refusal(transpose(4, 1000, 1000), h200, "narrow", 0),
            "only for narrow or small matrices without gaps between their rows");
  EXPECT_EQ(refusal(transpose(1, 16, int64_t{1} << 40), h200, "tma", 0),
            "not a tensor that a tensor map can describe");
  EXPECT_EQ(refusal(transpose(4, 100, 100), *find_device("B200"), "tma", 0),
            "not a tensor that a tensor map can describe");
  EXPECT_EQ(refusal(transpose(4, 100, 100), *find_device("A100"), "tma", 0),
            "needs a newer architecture");
  EXPECT_EQ(refusal(transpose_in_place(1, 8192, 8192), *find_device("T4"), "vector_in_place", 0),
            "more shared memory than a block can have");
}

TEST(Refusals, OfOldGpus) {
  DeviceTraits old = *find_device("T4");
  old.cc = 70;
  EXPECT_EQ(refusal(gemm(false, false, 64, 64, 64), old, "naive", 0), "needs a newer architecture");
  Plan<GemmProblem> plan;
  EXPECT_EQ(make_plan(gemm(false, false, 64, 64, 64), old, {}, &plan), MYGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(last_error_text(), "no kernel runs this call on T4: needs a newer architecture");
  EXPECT_EQ(plan.kernel, nullptr);
}

TEST(Refusals, OfElementTypesThatAKernelDoesNotTake) {
  GemmProblem p = gemm(false, false, 64, 64, 64);
  p.a.type = p.b.type = MYGEMM_R_16BF;
  for (const mygemmDataType_t out : {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF}) {
    p.c.type = p.d.type = out;
    for (const DeviceTraits& device : all_devices()) {
      Plan<GemmProblem> plan;
      EXPECT_EQ(make_plan(p, device, {}, &plan), MYGEMM_STATUS_SUCCESS) << device.name;
      EXPECT_EQ(refusal(p, device, device.cc == 0 ? "host_cblas" : "tiled", 0),
                "takes FP32 operands");
    }
  }
}

TEST(Refusals, OfMixedProducts) {
  for (const bool fp32_a : {true, false}) {
    const GemmProblem p = mixed(gemm(false, false, 64, 64, 64), fp32_a);
    for (const DeviceTraits& device : all_devices()) {
      Plan<GemmProblem> plan;
      EXPECT_EQ(make_plan(p, device, {}, &plan), MYGEMM_STATUS_SUCCESS) << device.name;
      EXPECT_EQ(refusal(p, device, device.cc == 0 ? "host_cblas" : "tiled", 0),
                "takes FP32 operands");
    }
    EXPECT_EQ(refusal(p, *find_device("H200"), "tensor16_128x128", 0), "takes operands of 16 bits");
  }
}

}  // namespace
}  // namespace mygemm
