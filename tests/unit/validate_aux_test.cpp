// Unit tests: the rules of the ABI for the operand of an activation and for sums, each with its
// sentence: when they are looked at, their shapes, their places.
#include <string>

#include <gtest/gtest.h>

#include "unit/problems.h"
#include "unit/refusal.h"
#include "validate.h"

namespace mygemm {
namespace {

using mygemm_tests::address;
using mygemm_tests::gemm;
using mygemm_tests::refusal;
using mygemm_tests::with_epilogue;

constexpr int64_t kMost = INT64_MAX;

// A product of 8 x 6 with an operand for its activation.
GemmProblem with_aux(mygemmActivation_t activation, int64_t batch = 1) {
  GemmProblem p = with_epilogue(gemm(false, false, 8, 6, 5, batch));
  p.epilogue.activation = activation;
  p.epilogue.aux = address<void>(5);
  p.epilogue.ldaux = p.epilogue.aux_is_bits() ? 32 : 8;
  p.epilogue.stride_aux = 6 * p.epilogue.ldaux;
  return p;
}

GemmProblem with_sums(mygemmSums_t of, int64_t batch = 1) {
  GemmProblem p = with_epilogue(gemm(false, false, 8, 6, 5, batch));
  p.sums = {of, address<float>(6), 8};
  return p;
}

void* bytes_from(const void* data, int64_t bytes) {
  return const_cast<char*>(static_cast<const char*>(data) + bytes);
}

TEST(Validate, ShapeOfTheActivationsOperand) {
  for (const mygemmActivation_t activation :
       {MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU, MYGEMM_ACTIVATION_RELU_GRADIENT,
        MYGEMM_ACTIVATION_GELU_GRADIENT}) {
    SCOPED_TRACE(activation);
    GemmProblem p = with_aux(activation, 3);
    const bool bits = p.epilogue.aux_is_bits();
    EXPECT_EQ(refusal(p), "");
    p.epilogue.ldaux = 5;
    EXPECT_EQ(refusal(p, Check::kShapesOnly), "ldaux = 5 is smaller than max(1, m) = 8");
    p.epilogue.ldaux = 40;
    p.epilogue.stride_aux = 32 * 40;
    EXPECT_EQ(refusal(p), bits ? "ldaux = 40 is not a multiple of 32 (aux holds bits)" : "");
    p.epilogue.ldaux = 64;
    p.epilogue.stride_aux = -400;
    EXPECT_EQ(refusal(p), bits ? "stride_aux = -400 is not a multiple of 32 (aux holds bits)" : "");
    p.batch_count = 1;
    EXPECT_EQ(refusal(p), "");
    p.d.ld = 5;  // named first
    p.epilogue.ldaux = 0;
    EXPECT_EQ(refusal(p), "ldd = 5 is smaller than max(1, m) = 8");
    p.d.ld = 8;
    p.m = 0;  // nothing to do, but shapes have rules
    EXPECT_EQ(refusal(p), "ldaux = 0 is smaller than max(1, m) = 1");
  }
}

// Gradients need it; RELU and GELU do without, and then look at no field of it.
TEST(Validate, PlaceOfTheActivationsOperand) {
  for (const mygemmActivation_t activation :
       {MYGEMM_ACTIVATION_RELU_GRADIENT, MYGEMM_ACTIVATION_GELU_GRADIENT}) {
    GemmProblem p = with_aux(activation);
    p.epilogue.aux = nullptr;
    EXPECT_EQ(refusal(p), "aux is NULL");
    EXPECT_EQ(refusal(p, Check::kShapesOnly), "");
    p.sums = {MYGEMM_SUMS_OF_D, nullptr, 0};
    EXPECT_EQ(refusal(p), "aux is NULL");
    p.epilogue.bias = bytes_from(p.epilogue.bias, 2);
    EXPECT_EQ(refusal(p), "bias = 0x100000000002 is not a multiple of 4 bytes");
  }
  for (const mygemmActivation_t activation : {MYGEMM_ACTIVATION_RELU, MYGEMM_ACTIVATION_GELU}) {
    GemmProblem p = with_aux(activation, 3);
    p.epilogue.aux = bytes_from(p.epilogue.aux, 1);
    EXPECT_EQ(refusal(p), "aux = 0x200000000001 is not a multiple of 4 bytes");
    p.epilogue.aux = nullptr;
    p.epilogue.ldaux = p.epilogue.stride_aux = -1;
    EXPECT_EQ(refusal(p), "");
  }
}

TEST(Validate, OverlapOfTheActivationsOperand) {
  GemmProblem p = with_aux(MYGEMM_ACTIVATION_GELU, 3);
  p.epilogue.aux = bytes_from(p.d.data, 4 * (3 * 48 - 1));
  EXPECT_EQ(refusal(p), "D overlaps aux");
  p.epilogue.aux = bytes_from(p.d.data, 4 * 3 * 48);
  EXPECT_EQ(refusal(p), "");
  p.epilogue.aux = p.a.data;
  EXPECT_EQ(refusal(p), "aux overlaps A");
  p.epilogue.alpha.value = 0.0f;  // then A is not read
  EXPECT_EQ(refusal(p), "");
  p.epilogue.aux = p.c.data;
  EXPECT_EQ(refusal(p), "aux overlaps C");
  p.epilogue.aux = const_cast<void*>(p.epilogue.bias);
  EXPECT_EQ(refusal(p), "aux overlaps bias");
  p = with_aux(MYGEMM_ACTIVATION_GELU, 3);
  p.epilogue.stride_aux = 47;
  EXPECT_EQ(refusal(p), "stride of aux = 47 makes matrices of the batch overlap");
  p.epilogue.stride_aux = kMost;
  EXPECT_TRUE(refusal(p).starts_with("aux spans ")) << refusal(p);
  // A gradient reads it: it may be an input too, or one for all products.
  p = with_aux(MYGEMM_ACTIVATION_GELU_GRADIENT, 3);
  p.epilogue.stride_aux = 0;
  p.epilogue.aux = p.a.data;
  EXPECT_EQ(refusal(p), "");
  p.epilogue.aux = p.d.data;
  EXPECT_EQ(refusal(p), "D overlaps aux");
}

// Columns of bits are as long as m of them, to the next byte or word.
TEST(Validate, OverlapOfBits) {
  GemmProblem p = with_aux(MYGEMM_ACTIVATION_RELU);
  p.m = 9;
  p.a.ld = p.c.ld = p.d.ld = 9;
  p.epilogue.aux = bytes_from(p.a.data, 4 * 9 * 5);
  EXPECT_EQ(refusal(p), "");
  p.epilogue.aux = bytes_from(p.a.data, -20);  // the last column's first two bytes
  EXPECT_EQ(refusal(p), "aux overlaps A");
  p.n = 5;
  EXPECT_EQ(refusal(p), "");
  p.epilogue.ldaux = kMost - 31;
  EXPECT_EQ(refusal(p), "");  // 2^62 bytes from 2^40 on
  p.epilogue.aux = p.d.data;
  EXPECT_EQ(refusal(p), "D overlaps aux");
  p = with_aux(MYGEMM_ACTIVATION_RELU);
  p.n = 1;
  p.epilogue.aux = bytes_from(p.d.data, 4 * 8 - 4);
  EXPECT_EQ(refusal(p), "D overlaps aux");
  p.epilogue.ldaux = 64;
  p.m = 33;
  p.a.ld = p.c.ld = p.d.ld = 33;
  p.epilogue.aux = bytes_from(p.d.data, -8);  // a bit in the second word
  EXPECT_EQ(refusal(p), "");
  p.epilogue.aux = bytes_from(p.d.data, -4);
  EXPECT_EQ(refusal(p), "D overlaps aux");
  p.epilogue.activation = MYGEMM_ACTIVATION_RELU_GRADIENT;
  EXPECT_EQ(refusal(p), "D overlaps aux");
  p.epilogue.aux = bytes_from(p.d.data, -8);
  EXPECT_EQ(refusal(p), "");
  p = with_aux(MYGEMM_ACTIVATION_RELU, 3);
  p.epilogue.stride_aux = 5 * 32;
  EXPECT_EQ(refusal(p), "stride of aux = 20 makes matrices of the batch overlap");
}

TEST(Validate, SumsHaveAPlace) {
  for (const mygemmSums_t of : {MYGEMM_SUMS_OF_D, MYGEMM_SUMS_OF_A, MYGEMM_SUMS_OF_B}) {
    SCOPED_TRACE(of);
    GemmProblem p = with_sums(of, 3);
    EXPECT_EQ(refusal(p), "");
    p.sums.data = nullptr;
    EXPECT_EQ(refusal(p), "sums is NULL");
    p.sums.data = static_cast<float*>(bytes_from(address<void>(6), 2));
    EXPECT_EQ(refusal(p), "sums = 0x400000000002 is not a multiple of 4 bytes");
    p = with_sums(of, 3);
    p.sums.stride = 5;  // D and A have 8 sums, B has 6
    EXPECT_EQ(refusal(p), "stride of sums = 5 makes matrices of the batch overlap");
    p.sums.stride = 6;
    EXPECT_EQ(refusal(p), of == MYGEMM_SUMS_OF_B
                              ? ""
                              : "stride of sums = 6 makes matrices of the batch overlap");
    p.sums.stride = -kMost;
    EXPECT_TRUE(refusal(p).starts_with("sums spans ")) << refusal(p);
    p.batch_count = 1;
    EXPECT_EQ(refusal(p), "");
  }
  GemmProblem none = with_sums(MYGEMM_SUMS_NONE);
  none.sums.data = static_cast<float*>(none.d.data);
  EXPECT_EQ(refusal(none), "");
}

TEST(Validate, OverlapOfSums) {
  const auto placed = [](void* data, int64_t bytes) {
    GemmProblem p = with_sums(MYGEMM_SUMS_OF_D);
    p.sums.data = static_cast<float*>(bytes_from(data, bytes));
    return p;
  };
  const GemmProblem p = with_sums(MYGEMM_SUMS_OF_D);
  EXPECT_EQ(refusal(placed(p.d.data, 4 * 47)), "D overlaps sums");
  EXPECT_EQ(refusal(placed(p.d.data, 4 * 48)), "");
  EXPECT_EQ(refusal(placed(p.d.data, -4 * 7)), "D overlaps sums");
  EXPECT_EQ(refusal(placed(p.a.data, 4)), "sums overlaps A");
  EXPECT_EQ(refusal(placed(p.b.data, 4)), "sums overlaps B");
  EXPECT_EQ(refusal(placed(p.c.data, 4)), "sums overlaps C");
  EXPECT_EQ(refusal(placed(const_cast<void*>(p.epilogue.bias), 4)), "sums overlaps bias");
  GemmProblem q = with_aux(MYGEMM_ACTIVATION_GELU);
  q.sums = {MYGEMM_SUMS_OF_B, static_cast<float*>(q.epilogue.aux), 0};
  EXPECT_EQ(refusal(q), "aux overlaps sums");
  q.epilogue.activation = MYGEMM_ACTIVATION_GELU_GRADIENT;
  EXPECT_EQ(refusal(q), "sums overlaps aux");
}

// Sums of an operand read it whatever alpha is, unless it is empty; sums are something to do.
TEST(Validate, SumsReadTheirOperand) {
  GemmProblem p = gemm(false, false, 8, 6, 5);
  p.epilogue.alpha.value = 0.0f;
  p.epilogue.beta.value = 1.0f;
  p.a.data = p.b.data = nullptr;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kDone);
  p.sums = {MYGEMM_SUMS_OF_D, address<float>(6), 0};
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kOk);
  p.sums.of = MYGEMM_SUMS_OF_A;
  EXPECT_EQ(refusal(p), "A is NULL");
  p.sums.of = MYGEMM_SUMS_OF_B;
  EXPECT_EQ(refusal(p), "B is NULL");
  p.b.data = address<void>(1);
  EXPECT_EQ(refusal(p), "");
  p.b.data = p.d.data;
  EXPECT_EQ(refusal(p), "D overlaps B");
  p.k = 0;
  p.a.data = p.b.data = nullptr;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kOk);
  p.n = 0;
  EXPECT_EQ(validate(p, Check::kEverything), Verdict::kDone);
}

TEST(Validate, TrianglesAreSquareAndAlone) {
  GemmProblem p = gemm(false, true, 8, 6, 5);
  p.fill = MYGEMM_FILL_LOWER;
  EXPECT_EQ(refusal(p), "fill = MYGEMM_FILL_LOWER, but D is not square (m = 8, n = 6)");
  p = gemm(false, true, 8, 8, 5);
  p.fill = MYGEMM_FILL_UPPER;
  EXPECT_EQ(refusal(p), "");
  const auto with = [&](auto change) {
    GemmProblem q = p;
    change(q);
    q.update_fused();
    return refusal(q);
  };
  const std::string begin = "fill = MYGEMM_FILL_UPPER cannot be combined with ";
  EXPECT_EQ(with([](GemmProblem& q) { q.epilogue.bias = address<void>(4); }), begin + "bias");
  EXPECT_EQ(with([](GemmProblem& q) { q.epilogue.activation = MYGEMM_ACTIVATION_RELU; }),
            begin + "activation");
  EXPECT_EQ(with([](GemmProblem& q) {
              q.sums = {MYGEMM_SUMS_OF_D, address<float>(6), 0};
            }),
            begin + "sums_of");
  EXPECT_EQ(with([](GemmProblem& q) { q.c.data = address<void>(6); }), "");
}

TEST(Validate, EnumerationsOfSumsAndFill) {
  for (const int value : {-1, 0, 1, 2, 3, 4, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(valid_sums(value), value >= 0 && value <= 3) << value;
  }
  EXPECT_FALSE(valid_sums(9));
  EXPECT_STREQ(last_error_text(), "sums_of = 9 is not a mygemmSums_t");
  for (const int value : {-1, 0, 1, 2, 3}) {
    EXPECT_EQ(valid_fill(value), value >= 0 && value <= 2) << value;
  }
  EXPECT_STREQ(last_error_text(), "fill = 3 is not a mygemmFill_t");
}

}  // namespace
}  // namespace mygemm
