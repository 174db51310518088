// Unit tests: the rules of the ABI. Every rule with its sentence, the order in which they are
// checked, the calls that have nothing to do, and random problems against the rules restated.
#include "validate.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/problems.h"

namespace mygemm {

static void PrintTo(Verdict verdict, std::ostream* out) {
  *out << std::array{"kOk", "kDone", "kInvalid"}[static_cast<size_t>(verdict)];
}

namespace {

using mygemm_tests::address;
using mygemm_tests::gemm;
using mygemm_tests::Random;
using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;
using mygemm_tests::transpose;
using mygemm_tests::transpose_in_place;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kMost = INT64_MAX;

template <class T>
T* misaligned(int bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(address<T>(0)) +
                              static_cast<uintptr_t>(bytes));
}

// One broken rule: what breaks it and the sentence that must follow.
template <class Problem>
struct Fault {
  const char* sentence;
  void (*make)(Problem&);
};

// A legal problem and its faults, in the order in which they must be found. Faults change
// different fields, so that any two can be made at once.
template <class Problem>
struct Rules {
  Problem legal;
  std::vector<Fault<Problem>> shapes, pointers;
};

Rules<GemmProblem> gemm_rules() {
  using P = GemmProblem;
  return {gemm(false, true, 8, 6, 5, 3),
          {{"m = -1 is negative", [](P& p) { p.m = -1; }},
           {"n = -2 is negative", [](P& p) { p.n = -2; }},
           {"k = -9223372036854775808 is negative", [](P& p) { p.k = INT64_MIN; }},
           {"batch_count = -4 is negative", [](P& p) { p.batch_count = -4; }},
           {"lda = 7 is smaller than max(1, m) = 8 (transa = N)", [](P& p) { p.a.ld = 7; }},
           {"ldb = 5 is smaller than max(1, n) = 6 (transb = T)", [](P& p) { p.b.ld = 5; }},
           {"ldc = -8 is smaller than max(1, m) = 8", [](P& p) { p.c.ld = -8; }}},
          {{"alpha is NULL", [](P& p) { p.alpha.address = nullptr; }},
           {"beta = 0x10000000002 is not a multiple of 4 bytes",
            [](P& p) { p.beta.address = misaligned<float>(2); }},
           {"A is NULL", [](P& p) { p.a.data = nullptr; }},
           {"B = 0x10000000001 is not a multiple of 4 bytes",
            [](P& p) { p.b.data = misaligned<float>(1); }},
           {"C is NULL", [](P& p) { p.c.data = nullptr; }}}};
}

Rules<SoftmaxProblem> softmax_rules() {
  using P = SoftmaxProblem;
  return {softmax(4, 8, MYGEMM_R_16F),
          {{"rows = -1 is negative", [](P& p) { p.rows = -1; }},
           {"cols = -1 is negative", [](P& p) { p.cols = -1; }},
           {"scale = inf is not finite", [](P& p) { p.scale = INFINITY; }},
           {"ldx = 7 is smaller than max(1, cols) = 8", [](P& p) { p.in.ld = 7; }},
           {"ldy = 0 is smaller than max(1, cols) = 8", [](P& p) { p.out.ld = 0; }}},
          {{"x = 0x10000000001 is not a multiple of 2 bytes",
            [](P& p) { p.in.data = misaligned<void>(1); }},
           {"y is NULL", [](P& p) { p.out.data = nullptr; }}}};
}

Rules<SoftmaxProblem> softmax_backward_rules() {
  using P = SoftmaxProblem;
  return {softmax_backward(4, 8),
          {{"rows = -1 is negative", [](P& p) { p.rows = -1; }},
           {"cols = -1 is negative", [](P& p) { p.cols = -1; }},
           {"scale = nan is not finite", [](P& p) { p.scale = kNan; }},
           {"ldy = 7 is smaller than max(1, cols) = 8", [](P& p) { p.in.ld = 7; }},
           {"lddy = 6 is smaller than max(1, cols) = 8", [](P& p) { p.dy.ld = 6; }},
           {"lddx = 5 is smaller than max(1, cols) = 8", [](P& p) { p.out.ld = 5; }}},
          {{"y is NULL", [](P& p) { p.in.data = nullptr; }},
           {"dy = 0x10000000002 is not a multiple of 4 bytes",
            [](P& p) { p.dy.data = misaligned<void>(2); }},
           {"dx is NULL", [](P& p) { p.out.data = nullptr; }}}};
}

Rules<TransposeProblem> transpose_rules() {
  using P = TransposeProblem;
  return {transpose(16, 4, 8, 3),
          {{"element_size = 3 is none of 1, 2, 4, 8, 16", [](P& p) { p.element_size = 3; }},
           {"rows = -1 is negative", [](P& p) { p.rows = -1; }},
           {"cols = -1 is negative", [](P& p) { p.cols = -1; }},
           {"batch_count = -1 is negative", [](P& p) { p.batch_count = -1; }},
           {"ldin = 7 is smaller than max(1, cols) = 8", [](P& p) { p.ldin = 7; }},
           {"ldout = 3 is smaller than max(1, rows) = 4", [](P& p) { p.ldout = 3; }}},
          {{"in = 0x10000000004 is not a multiple of 8 bytes",
            [](P& p) { p.in = misaligned<void>(4); }},
           {"out is NULL", [](P& p) { p.out = nullptr; }}}};
}

// The sentence that refuses the problem; "" where it is accepted, which must leave none.
template <class Problem>
std::string refusal(const Problem& problem, Check check = Check::kEverything) {
  fail(MYGEMM_STATUS_SUCCESS, "untouched");
  const Verdict verdict = validate(problem, check);
  const std::string sentence = last_error_text();
  if (verdict == Verdict::kInvalid) return sentence;
  EXPECT_EQ(sentence, "untouched") << "accepted, but with a sentence";
  return "";
}

template <class Problem>
void check_rules(const Rules<Problem>& rules) {
  EXPECT_EQ(validate(rules.legal, Check::kEverything), Verdict::kOk);
  EXPECT_EQ(validate(rules.legal, Check::kShapesOnly), Verdict::kOk);
  std::vector<Fault<Problem>> faults = rules.shapes;
  faults.insert(faults.end(), rules.pointers.begin(), rules.pointers.end());
  for (size_t i = 0; i < faults.size(); ++i) {
    const bool is_shape = i < rules.shapes.size();
    Problem one = rules.legal;
    faults[i].make(one);
    EXPECT_EQ(refusal(one), faults[i].sentence);
    EXPECT_EQ(refusal(one, Check::kShapesOnly), is_shape ? faults[i].sentence : "");
    for (size_t j = i + 1; j < faults.size(); ++j) {
      Problem two = one;
      faults[j].make(two);
      EXPECT_EQ(refusal(two), faults[i].sentence) << "before: " << faults[j].sentence;
    }
  }
}

TEST(Validate, GemmRulesInOrder) { check_rules(gemm_rules()); }
TEST(Validate, SoftmaxRulesInOrder) { check_rules(softmax_rules()); }
TEST(Validate, SoftmaxBackwardRulesInOrder) { check_rules(softmax_backward_rules()); }
TEST(Validate, TransposeRulesInOrder) { check_rules(transpose_rules()); }

// With nothing to do, shapes are checked and pointers are not.
template <class Problem>
void check_quick_return(const Rules<Problem>& rules, void (*empty)(Problem&)) {
  Problem nothing = rules.legal;
  empty(nothing);
  for (const auto& fault : rules.pointers) fault.make(nothing);
  EXPECT_EQ(validate(nothing, Check::kEverything), Verdict::kDone);
  EXPECT_EQ(validate(nothing, Check::kShapesOnly), Verdict::kOk);
  for (const auto& fault : rules.shapes) {
    Problem broken = nothing;
    fault.make(broken);
    EXPECT_EQ(validate(broken, Check::kEverything), Verdict::kInvalid) << fault.sentence;
  }
}

TEST(Validate, NothingToDoAfterShapesBeforePointers) {
  using G = GemmProblem;
  using S = SoftmaxProblem;
  using T = TransposeProblem;
  check_quick_return<G>(gemm_rules(), [](G& p) { p.batch_count = 0; });
  check_quick_return<G>(gemm_rules(), [](G& p) { p.alpha.value = 0, p.beta.value = 1; });
  check_quick_return<S>(softmax_rules(), [](S& p) { p.rows = 0; });
  check_quick_return<S>(softmax_backward_rules(), [](S& p) { p.rows = 0; });
  check_quick_return<T>(transpose_rules(), [](T& p) { p.batch_count = 0; });
}

TEST(Validate, NothingToDoWhereADimensionIsZero) {
  EXPECT_EQ(validate(gemm(false, false, 0, 6, 5), Check::kEverything), Verdict::kDone);
  EXPECT_EQ(validate(gemm(false, false, 8, 0, 5), Check::kEverything), Verdict::kDone);
  EXPECT_EQ(validate(softmax(4, 0), Check::kEverything), Verdict::kDone);
  EXPECT_EQ(validate(transpose(4, 0, 8), Check::kEverything), Verdict::kDone);
  EXPECT_EQ(validate(transpose(4, 8, 0), Check::kEverything), Verdict::kDone);
  GemmProblem p = gemm(false, false, 8, 6, 0);  // C = 0
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kOk);
  p.beta.value = 1.0f;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kDone);
  p.beta.value = kNan;                          // a device value
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kOk);
}

TEST(Validate, LeadingDimensionsOfEmptyMatrices) {
  GemmProblem p = gemm(true, false, 0, 0, 0);
  p.a.ld = 0;
  EXPECT_EQ(refusal(p), "lda = 0 is smaller than max(1, k) = 1 (transa = T)");
  p.a.ld = 1;
  p.b.ld = 0;
  EXPECT_EQ(refusal(p), "ldb = 0 is smaller than max(1, k) = 1 (transb = N)");
  SoftmaxProblem s = softmax(0, 0);
  s.in.ld = 0;
  EXPECT_EQ(refusal(s), "ldx = 0 is smaller than max(1, cols) = 1");
  TransposeProblem t = transpose(1, 0, 0);
  t.ldout = 0;
  EXPECT_EQ(refusal(t), "ldout = 0 is smaller than max(1, rows) = 1");
}

TEST(Validate, UnreadOperandsMayBeAnything) {
  GemmProblem p = gemm(false, false, 8, 6, 5, 3);
  p.alpha.value = 0.0f;
  p.a.data = nullptr;
  p.b = {p.c.data, nullptr, p.b.ld, kMost};
  EXPECT_EQ(refusal(p), "");
  p.alpha.value = kNan;  // a device value: not known to be 0
  EXPECT_EQ(refusal(p), "A is NULL");
}

TEST(Validate, ArraysOfPointersAreAlignedAndThere) {
  GemmProblem p = gemm(false, false, 8, 6, 5, 3);
  p.a = {nullptr, address<const float* const>(0), 8, 0};
  p.b = {nullptr, address<const float* const>(0), 5, 0};
  p.c = {nullptr, address<float* const>(0), 8, 0};
  EXPECT_EQ(refusal(p), "");
  GemmProblem q = p;
  q.a.pointers = nullptr;
  EXPECT_EQ(refusal(q), "A is NULL");
  q.alpha.value = 0.0f;
  EXPECT_EQ(refusal(q), "");
  p.b.pointers = misaligned<const float* const>(4);
  EXPECT_EQ(refusal(p), "B = 0x10000000004 is not a multiple of 8 bytes");
}

TEST(Validate, SizesBeyondTheAddressSpace) {
  GemmProblem p = gemm(false, false, kMost / 4, 3, 1);
  EXPECT_TRUE(refusal(p).starts_with("C spans 2.77e+19 bytes, which does not fit the address space "
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

TEST(Validate, OverlapOfProducts) {
  GemmProblem p = gemm(false, false, 8, 6, 8);
  p.c.data = const_cast<float*>(p.a.data) + 63;
  EXPECT_EQ(refusal(p), "C overlaps A");
  p.c.data = const_cast<float*>(p.a.data) + 64;
  EXPECT_EQ(refusal(p), "");
  p.c.data = const_cast<float*>(p.b.data);
  EXPECT_EQ(refusal(p), "C overlaps B");
  p = gemm(false, false, 8, 6, 5, 3);
  p.c.stride = 47;
  EXPECT_EQ(refusal(p), "stride of C = 47 makes matrices of the batch overlap");
  p.c.stride = -48;
  EXPECT_EQ(refusal(p), "");
  p.a.stride = p.b.stride = 0;
  EXPECT_EQ(refusal(p), "");
  // Columns of C between columns of A, in one array.
  p = gemm(false, false, 8, 6, 6);
  p.a.ld = p.c.ld = 16;
  p.c.data = const_cast<float*>(p.a.data) + 8;
  EXPECT_EQ(refusal(p), "");
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
  EXPECT_EQ(refusal(p), "out overlaps in (in place, batches need stride_in = stride_out and room "
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
  GemmProblem p = gemm(false, false, 8, 1, 5);
  p.c.ld = kMost / 4 + 1;  // a single column, but its distance to the next is still computed
  EXPECT_NE(refusal(p).find("does not fit"), std::string::npos);
  p.c.ld = kMost / 4;
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
    const auto place = [&](auto& operand) {
      operand.data = address<float>(0) + random.integer(0, 60);
      operand.ld += random.integer(0, 6);
      operand.stride = random.integer(-20, 20);
    };
    place(p.a);
    place(p.b);
    place(p.c);
    bool any, disjoint;
    const auto a = elements_of(p.a.data, p.a_cols(), p.a_rows(), p.a.ld, p.a.stride,
                               p.batch_count, &any);
    const auto b = elements_of(p.b.data, p.b_cols(), p.b_rows(), p.b.ld, p.b.stride,
                               p.batch_count, &any);
    const auto c = elements_of(p.c.data, p.n, p.m, p.c.ld, p.c.stride, p.batch_count, &disjoint);
    const bool legal = disjoint && !share(c, a) && !share(c, b);
    ASSERT_EQ(refusal(p).empty(), legal) << refusal(p);
    ++verdicts[legal];
  }
  EXPECT_GT(verdicts[0], 2000);
  EXPECT_GT(verdicts[1], 2000);
}

// Shapes of any size: refused only for what shapes can break, and never an overflow.
template <class Problem>
void check_huge_shapes(uint64_t seed) {
  Random random(seed);
  for (int trial = 0; trial < 20000; ++trial) {
    Problem problem;
    random_problem(random, &problem);
    ASSERT_EQ(refusal(problem, Check::kShapesOnly), "");
    const std::string sentence = refusal(problem);
    ASSERT_TRUE(sentence.empty() || sentence.find(" spans ") != std::string::npos ||
                sentence.find("overlap") != std::string::npos)
        << sentence;
  }
}

TEST(Validate, ShapesOfAnySize) {
  check_huge_shapes<GemmProblem>(6);
  check_huge_shapes<SoftmaxProblem>(7);
  check_huge_shapes<TransposeProblem>(8);
}

TEST(Validate, Enumerations) {
  for (int value : {-1, 0, 1, 2, 3, 14, 15, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(valid_operation("transa", value), value >= 0 && value <= 2) << value;
    EXPECT_EQ(valid_data_type("xtype", value), value == 0 || value == 2 || value == 14) << value;
    EXPECT_EQ(valid_softmax_mode(value), value == 0 || value == 1) << value;
  }
  EXPECT_FALSE(valid_operation("transb", 3));
  EXPECT_STREQ(last_error_text(), "transb = 3 is not a mygemmOperation_t");
  EXPECT_FALSE(valid_data_type("dytype", 1));
  EXPECT_STREQ(last_error_text(), "dytype = 1 is not a mygemmDataType_t");
  EXPECT_FALSE(valid_softmax_mode(-7));
  EXPECT_STREQ(last_error_text(), "mode = -7 is not a mygemmSoftmaxMode_t");
}

}  // namespace
}  // namespace mygemm
