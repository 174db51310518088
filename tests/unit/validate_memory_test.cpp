// Unit tests: the rules of the ABI for memory. What does not fit the address space, and which
// operands may share bytes, by example and against sets of elements.
#include "validate.h"

#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "unit/problems.h"
#include "unit/refusal.h"

namespace mygemm {
namespace {

using mygemm_tests::address;
using mygemm_tests::gemm;
using mygemm_tests::Random;
using mygemm_tests::refusal;
using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;
using mygemm_tests::transpose;
using mygemm_tests::transpose_in_place;
using mygemm_tests::with_epilogue;

constexpr int64_t kMost = INT64_MAX;

TEST(Validate, SizesBeyondTheAddressSpace) {
  GemmProblem p = gemm(false, false, kMost / 4, 3, 1);
  EXPECT_TRUE(
      refusal(p).starts_with("D spans 2.77e+19 bytes, which does not fit the address space "
                             "(ld = 2305843009213693951, stride = 0, batch_count = 1)"))
      << refusal(p);
  p = gemm(false, false, 8, 6, 5, 3);
  p.a.stride = INT64_MIN;
  EXPECT_TRUE(refusal(p).starts_with("A spans ")) << refusal(p);
  p.a.stride = -(int64_t{1} << 40);  // from 2^40 bytes down
  EXPECT_TRUE(refusal(p).starts_with("A spans ")) << refusal(p);
  EXPECT_TRUE(refusal(softmax(kMost, kMost)).starts_with("x spans "));
  EXPECT_TRUE(refusal(transpose(16, kMost, kMost, kMost)).starts_with("in spans "));
  TransposeProblem t = transpose(1, 8, 8, 2);
  t.out = reinterpret_cast<void*>(uintptr_t{1} << 63);
  t.stride_out = INT64_MIN;
  EXPECT_TRUE(refusal(t).starts_with("out spans ")) << refusal(t);
}

// The element of an operand with this number.
void* element(const Operand& operand, int64_t number) {
  return static_cast<float*>(operand.data) + number;
}

// The output's place and layout, as mygemm_sgemm has them: C is D.
void set_output(GemmProblem& p, void* data, int64_t ld, int64_t stride) {
  p.c = p.d = {data, nullptr, ld, stride};
  p.output_is_c = true;
}

TEST(Validate, OverlapOfProducts) {
  GemmProblem p = gemm(false, false, 8, 6, 8);
  set_output(p, element(p.a, 63), 8, 0);
  EXPECT_EQ(refusal(p), "C overlaps A");
  set_output(p, element(p.a, 64), 8, 0);
  EXPECT_EQ(refusal(p), "");
  set_output(p, p.b.data, 8, 0);
  EXPECT_EQ(refusal(p), "C overlaps B");
  p = gemm(false, false, 8, 6, 5, 3);
  set_output(p, p.d.data, 8, 47);
  EXPECT_EQ(refusal(p), "stride of C = 47 makes matrices of the batch overlap");
  set_output(p, p.d.data, 8, -48);
  EXPECT_EQ(refusal(p), "");
  p.a.stride = p.b.stride = 0;
  EXPECT_EQ(refusal(p), "");
  // Columns of C between columns of A, in one array.
  p = gemm(false, false, 8, 6, 6);
  p.a.ld = 16;
  set_output(p, element(p.a, 8), 16, 0);
  EXPECT_EQ(refusal(p), "");
}

TEST(Validate, OverlapOfGeneralProducts) {
  const GemmProblem legal = with_epilogue(gemm(false, false, 8, 6, 5, 3));
  EXPECT_EQ(refusal(legal), "");
  GemmProblem p = legal;
  p.d.data = element(p.a, 1);
  EXPECT_EQ(refusal(p), "D overlaps A");
  p.d.data = element(p.b, 1);
  EXPECT_EQ(refusal(p), "D overlaps B");
  // C is D, or apart from it; nothing between.
  const std::string apart =
      "D overlaps C (where C is D, pointer, leading dimension and stride are the same)";
  p = legal;
  p.c = p.d;
  EXPECT_EQ(refusal(p), "");
  p.c.ld = 9;
  EXPECT_EQ(refusal(p), apart);
  p.c = p.d;
  p.c.stride = 0;
  EXPECT_EQ(refusal(p), apart);
  p.c = p.d;
  p.c.data = element(p.d, 7);
  EXPECT_EQ(refusal(p), apart);
  p.c.data = element(p.d, 3 * 48);
  EXPECT_EQ(refusal(p), "");
  p.c = {p.a.data, nullptr, 8, -100};  // an input like the others
  EXPECT_EQ(refusal(p), "");
  p = legal;
  p.epilogue.bias = element(p.d, 3 * 48 - 1);
  EXPECT_EQ(refusal(p), "D overlaps bias");
  p.epilogue.bias = element(p.d, 3 * 48);
  EXPECT_EQ(refusal(p), "");
  p.epilogue.stride_bias = -8;
  EXPECT_EQ(refusal(p), "D overlaps bias");
  p.epilogue.bias = p.c.data;
  p.epilogue.stride_bias = 0;
  EXPECT_EQ(refusal(p), "");
  p.epilogue.stride_bias = kMost;
  EXPECT_TRUE(refusal(p).starts_with("bias spans ")) << refusal(p);
  p = legal;
  p.c.stride = kMost;
  EXPECT_TRUE(refusal(p).starts_with("C spans ")) << refusal(p);
}

TEST(Validate, OverlapOfSoftmax) {
  SoftmaxProblem p = softmax(4, 8);
  p.out.data = p.in.data;
  EXPECT_EQ(refusal(p), "");
  p.out.type = MYGEMM_R_16F;
  const std::string sentence =
      "y overlaps x (in place needs the same pointer, the same ld and types of one width)";
  EXPECT_EQ(refusal(p), sentence);
  p.in.type = MYGEMM_R_16BF;
  EXPECT_EQ(refusal(p), "");
  p.out.ld = 9;
  EXPECT_EQ(refusal(p), sentence);
  SoftmaxProblem b = softmax_backward(4, 8);
  b.out.data = b.in.data;
  EXPECT_EQ(refusal(b), "");
  b.dy.data = b.in.data;
  EXPECT_EQ(refusal(b), "");
  b.in.data = static_cast<char*>(b.out.data) + 4;
  EXPECT_TRUE(refusal(b).starts_with("dx overlaps y ")) << refusal(b);
  b.in.data = address<void>(5);
  b.dy.ld = 12;
  EXPECT_TRUE(refusal(b).starts_with("dx overlaps dy ")) << refusal(b);
}

TEST(Validate, OverlapOfTransposes) {
  TransposeProblem p = transpose_in_place(4, 4, 8, 3);
  EXPECT_EQ(refusal(p), "");
  p.ldin = 11;  // longer than the matrix apart
  EXPECT_EQ(refusal(p),
            "out overlaps in (in place, batches need stride_in = stride_out and room "
            "for both layouts)");
  p.stride_in = p.stride_out = 44;
  EXPECT_EQ(refusal(p), "");
  p.stride_in = 45;
  EXPECT_TRUE(refusal(p).starts_with("out overlaps in (in place, ")) << refusal(p);
  p = transpose(4, 4, 8, 3);
  p.in = static_cast<char*>(p.out) + 4;
  EXPECT_EQ(refusal(p), "out overlaps in (only out = in is allowed)");
  p = transpose(4, 4, 8, 3);
  p.stride_in = -5;
  EXPECT_EQ(refusal(p), "");
  p.stride_out = 31;
  EXPECT_EQ(refusal(p), "stride of out = 31 makes matrices of the batch overlap");
  // The one matrix of a batch of 1 has no neighbour, whatever the strides.
  p = transpose_in_place(4, 4, 8);
  p.stride_in = 1;
  EXPECT_EQ(refusal(p), "");
}

TEST(Validate, LeadingDimensionsBeyondTheAddressSpace) {
  GemmProblem p = gemm(false, false, 8, 2, 5);
  set_output(p, p.d.data, kMost / 4 + 1, 0);
  EXPECT_NE(refusal(p).find("does not fit"), std::string::npos);
  // A single column goes nowhere, whatever its leading dimension.
  p = gemm(false, false, 8, 1, 5);
  set_output(p, p.d.data, kMost, 0);
  EXPECT_EQ(refusal(p), "");
}

// The first words of the sentence that refuses the problem, and whether it ends with `end`.
template <class Problem>
void expect_spans(const Problem& problem, const std::string& begin, const std::string& end) {
  const std::string sentence = refusal(problem);
  EXPECT_TRUE(sentence.starts_with(begin) && sentence.ends_with(end)) << sentence;
}

// The smallest leading dimension with which two lines of 4-byte elements do not fit.
constexpr int64_t kTooLong = (int64_t{1} << 61) - 1;
const std::string kStrided =
    " bytes, which does not fit the address space (ld = 2305843009213693951, stride = 0, "
    "batch_count = 1)";

TEST(Validate, EachOperandsLeadingDimensionBeyondTheAddressSpace) {
  const GemmProblem legal = with_epilogue(gemm(false, false, 8, 2, 5));
  GemmProblem p = legal;
  p.a.ld = kTooLong;
  expect_spans(p, "A spans 3.69e+19", kStrided);
  p = legal;
  p.b.ld = kTooLong;
  expect_spans(p, "B spans 9.22e+18", kStrided);
  p = legal;
  p.c.ld = kTooLong;
  expect_spans(p, "C spans 9.22e+18", kStrided);
  p = legal;
  p.d.ld = kTooLong;
  expect_spans(p, "D spans 9.22e+18", kStrided);
  for (TypedMatrix SoftmaxProblem::*matrix :
       {&SoftmaxProblem::in, &SoftmaxProblem::dy, &SoftmaxProblem::out}) {
    SoftmaxProblem b = softmax_backward(2, 8);
    (b.*matrix).ld = kTooLong;
    const char* name = matrix == &SoftmaxProblem::in   ? "y"
                       : matrix == &SoftmaxProblem::dy ? "dy"
                                                       : "dx";
    expect_spans(b, std::string(name) + " spans 9.22e+18", kStrided);
  }
  TransposeProblem t = transpose(4, 2, 3);
  t.ldin = kTooLong;
  expect_spans(t, "in spans 9.22e+18", kStrided);
  t = transpose(4, 3, 2);
  t.ldout = kTooLong;
  expect_spans(t, "out spans 9.22e+18", kStrided);
}

// Where a matrix of an array of pointers lies is not known; its size is.
TEST(Validate, MatricesOfPointerArraysBeyondTheAddressSpace) {
  GemmProblem legal = with_epilogue(gemm(false, false, 8, 2, 5, 3));
  int index = 10;
  for (Operand* operand : {&legal.a, &legal.b, &legal.c, &legal.d}) {
    *operand = {nullptr, address<void* const>(index++), operand->ld, 0};
  }
  legal.pointer_arrays = true;
  EXPECT_EQ(refusal(legal), "");
  const std::string end = " bytes, which does not fit the address space (ld = 2305843009213693951)";
  GemmProblem p = legal;
  p.a.ld = kTooLong;
  expect_spans(p, "each matrix of A_array spans 3.69e+19", end);
  p.epilogue.alpha.value = 0.0f;  // then A is not read
  EXPECT_EQ(refusal(p), "");
  p = legal;
  p.b.ld = kTooLong;
  expect_spans(p, "each matrix of B_array spans 9.22e+18", end);
  p = legal;
  p.c.ld = kTooLong;
  expect_spans(p, "each matrix of C_array spans 9.22e+18", end);
  p.epilogue.beta.value = 0.0f;
  EXPECT_EQ(refusal(p), "");
  p = legal;
  p.d.ld = kTooLong;
  expect_spans(p, "each matrix of D_array spans 9.22e+18", end);
  p = legal;
  p.n = 1;
  p.b.ld = p.c.ld = p.d.ld = kMost;
  EXPECT_EQ(refusal(p), "");
}

// The elements that an operand's matrices hold, by number from the address of index 0.
std::set<int64_t> elements_of(const void* data, int64_t runs, int64_t length, int64_t ld,
                              int64_t stride, int64_t batch, bool* disjoint) {
  std::set<int64_t> elements;
  const auto first = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) / sizeof(float));
  *disjoint = true;
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t run = 0; run < runs; ++run) {
      for (int64_t e = 0; e < length; ++e) {
        *disjoint &= elements.insert(first + i * stride + run * ld + e).second;
      }
    }
  }
  return elements;
}

bool share(const std::set<int64_t>& x, const std::set<int64_t>& y) {
  for (int64_t element : x) {
    if (y.contains(element)) return true;
  }
  return false;
}

TEST(Validate, RandomProductsAgainstSetsOfElements) {
  Random random(5);
  std::array<int, 2> verdicts{};
  for (int trial = 0; trial < 20000; ++trial) {
    const bool ta = random.integer(0, 1) == 1, tb = random.integer(0, 1) == 1;
    GemmProblem p = gemm(ta, tb, random.integer(1, 4), random.integer(1, 4), random.integer(1, 4),
                         random.integer(1, 3));
    const auto place = [&](Operand& operand) {
      operand.data = element({address<void>(0), nullptr, 0, 0}, random.integer(0, 60));
      operand.ld += random.integer(0, 6);
      operand.stride = random.integer(-20, 20);
    };
    place(p.a);
    place(p.b);
    place(p.d);
    p.c = p.d;
    const bool own_c = random.integer(0, 2) == 0;
    if (own_c) {
      place(p.c);
      p.epilogue.beta.value = 1.0f;
    }
    bool any, disjoint;
    const auto a =
        elements_of(p.a.data, p.a_cols(), p.a_rows(), p.a.ld, p.a.stride, p.batch_count, &any);
    const auto b =
        elements_of(p.b.data, p.b_cols(), p.b_rows(), p.b.ld, p.b.stride, p.batch_count, &any);
    const auto c = elements_of(p.c.data, p.n, p.m, p.c.ld, p.c.stride, p.batch_count, &any);
    const auto d = elements_of(p.d.data, p.n, p.m, p.d.ld, p.d.stride, p.batch_count, &disjoint);
    const bool legal =
        disjoint && !share(d, a) && !share(d, b) && (p.in_place() || !own_c || !share(d, c));
    ASSERT_EQ(refusal(p).empty(), legal) << refusal(p);
    ++verdicts[legal];
  }
  EXPECT_GT(verdicts[0], 2000);
  EXPECT_GT(verdicts[1], 2000);
}

}  // namespace
}  // namespace mygemm
