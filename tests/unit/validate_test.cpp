// Unit tests: the rules of the ABI for arguments. Every rule with its sentence, the order in which
// they are checked, and the calls that have nothing to do. Overlap: validate_memory_test.cpp.
#include "validate.h"

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/problems.h"
#include "unit/refusal.h"
#include "unit/rules_in_order.h"

namespace mygemm {

static void PrintTo(Verdict verdict, std::ostream* out) {
  *out << std::array{"kOk", "kDone", "kInvalid"}[static_cast<size_t>(verdict)];
}

namespace {

using mygemm_tests::address;
using mygemm_tests::check_quick_return;
using mygemm_tests::check_rules;
using mygemm_tests::gemm;
using mygemm_tests::misaligned;
using mygemm_tests::Random;
using mygemm_tests::refusal;
using mygemm_tests::Rules;
using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;
using mygemm_tests::transpose;
using mygemm_tests::with_epilogue;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kMost = INT64_MAX;

// mygemm_sgemm and its siblings, whose output is called C.
GemmProblem plain(GemmProblem problem) {
  problem.output_is_c = true;
  return problem;
}

Rules<GemmProblem> plain_gemm_rules() {
  using P = GemmProblem;
  return {plain(gemm(false, true, 8, 6, 5, 3)),
          {{"m = -1 is negative", [](P& p) { p.m = -1; }},
           {"n = -2 is negative", [](P& p) { p.n = -2; }},
           {"k = -9223372036854775808 is negative", [](P& p) { p.k = INT64_MIN; }},
           {"batch_count = -4 is negative", [](P& p) { p.batch_count = -4; }},
           {"lda = 7 is smaller than max(1, m) = 8 (transa = N)", [](P& p) { p.a.ld = 7; }},
           {"ldb = 5 is smaller than max(1, n) = 6 (transb = T)", [](P& p) { p.b.ld = 5; }},
           {"ldc = -8 is smaller than max(1, m) = 8", [](P& p) { p.c.ld = p.d.ld = -8; }}},
          {{"alpha is NULL", [](P& p) { p.epilogue.alpha.address = nullptr; }},
           {"beta = 0x10000000002 is not a multiple of 4 bytes",
            [](P& p) { p.epilogue.beta.address = misaligned<float>(2); }},
           {"A is NULL", [](P& p) { p.a.data = nullptr; }},
           {"B = 0x10000000001 is not a multiple of 4 bytes",
            [](P& p) { p.b.data = misaligned<float>(1); }},
           {"C is NULL", [](P& p) { p.c.data = p.d.data = nullptr; }}}};
}

Rules<GemmProblem> gemm_rules() {
  using P = GemmProblem;
  return {with_epilogue(gemm(true, false, 8, 6, 5, 3)),
          {{"m = -1 is negative", [](P& p) { p.m = -1; }},
           {"n = -2 is negative", [](P& p) { p.n = -2; }},
           {"k = -3 is negative", [](P& p) { p.k = -3; }},
           {"batch_count = -4 is negative", [](P& p) { p.batch_count = -4; }},
           {"lda = 4 is smaller than max(1, k) = 5 (transa = T)", [](P& p) { p.a.ld = 4; }},
           {"ldb = 4 is smaller than max(1, k) = 5 (transb = N)", [](P& p) { p.b.ld = 4; }},
           {"ldc = 7 is smaller than max(1, m) = 8", [](P& p) { p.c.ld = 7; }},
           {"ldd = 5 is smaller than max(1, m) = 8", [](P& p) { p.d.ld = 5; }}},
          {{"alpha = 0x10000000001 is not a multiple of 4 bytes",
            [](P& p) { p.epilogue.alpha.address = misaligned<float>(1); }},
           {"beta is NULL", [](P& p) { p.epilogue.beta.address = nullptr; }},
           {"A = 0x10000000003 is not a multiple of 4 bytes",
            [](P& p) { p.a.data = misaligned<float>(3); }},
           {"B is NULL", [](P& p) { p.b.data = nullptr; }},
           {"C = 0x10000000002 is not a multiple of 4 bytes",
            [](P& p) { p.c.data = misaligned<float>(2); }},
           {"D is NULL", [](P& p) { p.d.data = nullptr; }},
           {"bias = 0x10000000001 is not a multiple of 4 bytes",
            [](P& p) { p.epilogue.bias = misaligned<float>(1); }}}};
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

TEST(Validate, PlainGemmRulesInOrder) { check_rules(plain_gemm_rules()); }
TEST(Validate, GemmRulesInOrder) { check_rules(gemm_rules()); }
TEST(Validate, SoftmaxRulesInOrder) { check_rules(softmax_rules()); }
TEST(Validate, SoftmaxBackwardRulesInOrder) { check_rules(softmax_backward_rules()); }
TEST(Validate, TransposeRulesInOrder) { check_rules(transpose_rules()); }

TEST(Validate, NothingToDoAfterShapesBeforePointers) {
  using G = GemmProblem;
  using S = SoftmaxProblem;
  using T = TransposeProblem;
  check_quick_return<G>(gemm_rules(), [](G& p) { p.batch_count = 0; });
  check_quick_return<G>(plain_gemm_rules(), [](G& p) { p.batch_count = 0; });
  check_quick_return<G>(plain_gemm_rules(),
                        [](G& p) { p.epilogue.alpha.value = 0, p.epilogue.beta.value = 1; });
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
  p.epilogue.beta.value = 1.0f;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kDone);
  p.epilogue.beta.value = kNan;  // a device value
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kOk);
}

// D = activation(C + bias) is something to do, and so is D = C.
TEST(Validate, SomethingToDoWithoutSums) {
  GemmProblem p = gemm(false, false, 8, 6, 0);
  p.epilogue.beta.value = 1.0f;
  GemmProblem q = p;
  q.epilogue.bias = address<void>(4);
  q.update_fused();
  EXPECT_EQ(validate(q, Check::kEverything), Verdict::kOk);
  q = p;
  q.epilogue.activation = MYGEMM_ACTIVATION_RELU;
  q.update_fused();
  EXPECT_EQ(validate(q, Check::kEverything), Verdict::kOk);
  q = p;
  q.c.data = address<void>(3);
  q.update_fused();
  EXPECT_EQ(validate(q, Check::kEverything), Verdict::kOk);
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
  p.epilogue.alpha.value = 0.0f;
  p.a.data = nullptr;
  p.b = {p.d.data, nullptr, p.b.ld, kMost};
  EXPECT_EQ(refusal(p), "");
  p.epilogue.alpha.value = kNan;  // a device value: not known to be 0
  EXPECT_EQ(refusal(p), "A is NULL");
  p = with_epilogue(gemm(false, false, 8, 6, 5, 3));
  p.epilogue.beta.value = 0.0f;
  p.c.data = misaligned<void>(1);
  EXPECT_EQ(refusal(p), "");
  p.c.data = static_cast<float*>(p.d.data) + 1;
  EXPECT_EQ(refusal(p), "");
  p.epilogue.beta.value = kNan;
  EXPECT_EQ(refusal(p).substr(0, 12), "D overlaps C");
}

GemmProblem with_pointer_arrays(GemmProblem p) {
  p.a = {nullptr, address<void* const>(0), 8, 0};
  p.b = {nullptr, address<void* const>(0), 5, 0};
  p.c = p.d = {nullptr, address<void* const>(0), 8, 0};
  p.pointer_arrays = true;
  return p;
}

TEST(Validate, ArraysOfPointersAreAlignedAndThere) {
  GemmProblem p = plain(with_pointer_arrays(gemm(false, false, 8, 6, 5, 3)));
  EXPECT_EQ(refusal(p), "");
  GemmProblem q = p;
  q.a.pointers = nullptr;
  EXPECT_EQ(refusal(q), "A is NULL");
  q.epilogue.alpha.value = 0.0f;
  EXPECT_EQ(refusal(q), "");
  q.c.pointers = q.d.pointers = nullptr;
  EXPECT_EQ(refusal(q), "C is NULL");
  p.b.pointers = misaligned<void* const>(4);
  EXPECT_EQ(refusal(p), "B = 0x10000000004 is not a multiple of 8 bytes");
}

TEST(Validate, ArraysOfPointersOfTheGeneralProduct) {
  const GemmProblem p = with_pointer_arrays(with_epilogue(gemm(false, false, 8, 6, 5, 3)));
  EXPECT_EQ(refusal(p), "");
  GemmProblem q = p;
  q.b.pointers = nullptr;
  EXPECT_EQ(refusal(q), "B_array is NULL");
  q = p;
  q.c.pointers = misaligned<void* const>(4);
  EXPECT_EQ(refusal(q), "C_array = 0x10000000004 is not a multiple of 8 bytes");
  q.epilogue.beta.value = 0.0f;
  EXPECT_EQ(refusal(q), "");
  q = p;
  q.d.pointers = misaligned<void* const>(2);
  EXPECT_EQ(refusal(q), "D_array = 0x10000000002 is not a multiple of 8 bytes");
  q = p;
  q.c.ld = 9;
  EXPECT_EQ(refusal(q), "C_array is D_array, but ldc = 9 is not ldd = 8");
}

// Pointers in arrays in host memory are looked at.
TEST(Validate, MatrixPointersInHostMemory) {
  void* const good[] = {address<void>(0), address<void>(1), address<void>(2)};
  void* const bad[] = {address<void>(0), misaligned<void>(2), address<void>(2)};
  void* const missing[] = {address<void>(0), address<void>(1), nullptr};
  GemmProblem p = with_pointer_arrays(gemm(false, false, 8, 6, 5, 3));
  p.readable_arrays = true;
  p.a.pointers = p.b.pointers = p.c.pointers = p.d.pointers = good;
  EXPECT_EQ(refusal(p), "");
  p.a.pointers = bad;
  EXPECT_EQ(refusal(p), "A_array[1] = 0x10000000002 is NULL or not a multiple of 4 bytes");
  p.a.pointers = good;
  p.c.pointers = p.d.pointers = missing;
  EXPECT_EQ(refusal(p), "D_array[2] = (nil) is NULL or not a multiple of 4 bytes");
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
  for (int value : {-1, 0, 1, 2, 3, 4, 5, 14, 15, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(valid_operation("transa", value), value >= 0 && value <= 2) << value;
    EXPECT_EQ(valid_data_type("xtype", value), value == 0 || value == 2 || value == 14) << value;
    EXPECT_EQ(valid_softmax_mode(value), value == 0 || value == 1) << value;
    EXPECT_EQ(valid_product_math(value), value >= -1 && value <= 2) << value;
    EXPECT_EQ(valid_activation(value), value >= 0 && value <= 4) << value;
  }
  EXPECT_FALSE(valid_operation("transb", 3));
  EXPECT_STREQ(last_error_text(), "transb = 3 is not a mygemmOperation_t");
  EXPECT_FALSE(valid_data_type("dytype", 1));
  EXPECT_STREQ(last_error_text(), "dytype = 1 is not a mygemmDataType_t");
  EXPECT_FALSE(valid_softmax_mode(-7));
  EXPECT_STREQ(last_error_text(), "mode = -7 is not a mygemmSoftmaxMode_t");
  EXPECT_FALSE(valid_product_math(7));
  EXPECT_STREQ(last_error_text(),
               "math = 7 is neither a mygemmMathMode_t nor MYGEMM_MATH_OF_HANDLE");
  EXPECT_FALSE(valid_activation(5));
  EXPECT_STREQ(last_error_text(), "activation = 5 is not a mygemmActivation_t");
}

TEST(Validate, ElementTypesOfProducts) {
  constexpr mygemmDataType_t kTypes[] = {MYGEMM_R_32F, MYGEMM_R_16F, MYGEMM_R_16BF};
  GemmProblem p = gemm(false, false, 8, 6, 5);
  for (const mygemmDataType_t a : kTypes) {
    for (const mygemmDataType_t b : kTypes) {
      for (const mygemmDataType_t out : kTypes) {
        p.a.type = a, p.b.type = b, p.c.type = p.d.type = out;
        const bool together = a == b || (a != MYGEMM_R_16F && b != MYGEMM_R_16F);
        const bool fp32 = a == MYGEMM_R_32F || b == MYGEMM_R_32F;
        const bool legal = together && (!fp32 || out == MYGEMM_R_32F);
        EXPECT_EQ(supported_types(p), legal ? MYGEMM_STATUS_SUCCESS : MYGEMM_STATUS_NOT_SUPPORTED)
            << a << ", " << b << " to " << out;
      }
    }
  }
  const auto expect_refused = [&](mygemmDataType_t a, mygemmDataType_t b, mygemmDataType_t c,
                                  mygemmDataType_t d, const char* sentence) {
    p.a.type = a, p.b.type = b, p.c.type = c, p.d.type = d;
    EXPECT_EQ(supported_types(p), MYGEMM_STATUS_NOT_SUPPORTED) << sentence;
    EXPECT_STREQ(last_error_text(), sentence);
  };
  constexpr auto kF32 = MYGEMM_R_32F, kF16 = MYGEMM_R_16F, kBf16 = MYGEMM_R_16BF;
  expect_refused(kF32, kF32, kBf16, kBf16,
                 "dtype = 14, but atype = 0: D of a product with an FP32 operand is FP32");
  expect_refused(kF32, kBf16, kBf16, kBf16,
                 "dtype = 14, but atype = 0: D of a product with an FP32 operand is FP32");
  expect_refused(kBf16, kF32, kBf16, kBf16,
                 "dtype = 14, but btype = 0: D of a product with an FP32 operand is FP32");
  expect_refused(kF16, kF32, kF32, kF32,
                 "atype = 2, but btype = 0: A and B have one element type, or are FP32 and BF16");
  expect_refused(kF32, kF16, kF32, kF32,
                 "atype = 0, but btype = 2: A and B have one element type, or are FP32 and BF16");
  expect_refused(kF16, kBf16, kF32, kF32,
                 "atype = 2, but btype = 14: A and B have one element type, or are FP32 and BF16");
  expect_refused(kF16, kF16, kF32, kBf16,
                 "ctype = 0, but dtype = 14: C and D have one element type");
  expect_refused(kF32, kBf16, kF32, kBf16,
                 "ctype = 0, but dtype = 14: C and D have one element type");
}

TEST(Validate, StructsThatGrow) {
  struct {
    size_t struct_size;
    int64_t known, later;
  } given{sizeof given, 5, 0};
  constexpr size_t kKnown = 2 * sizeof(int64_t);
  const auto check = [&] { return check_struct("call", "MYGEMM_GEMM_INIT", &given, kKnown); };
  EXPECT_EQ(check(), MYGEMM_STATUS_SUCCESS);
  given.later = int64_t{1} << 40;
  EXPECT_EQ(check(), MYGEMM_STATUS_NOT_SUPPORTED);
  EXPECT_STREQ(last_error_text(),
               "call sets a field at byte 21, past the 16 bytes that this library knows");
  given.struct_size = kKnown;
  EXPECT_EQ(check(), MYGEMM_STATUS_SUCCESS);
  given.struct_size = kKnown - 1;
  EXPECT_EQ(check(), MYGEMM_STATUS_INVALID_VALUE);
  EXPECT_STREQ(last_error_text(),
               "call->struct_size = 15 is smaller than 16; start from MYGEMM_GEMM_INIT");
}

}  // namespace
}  // namespace mygemm
