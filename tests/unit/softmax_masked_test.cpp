// Unit tests: the rules, the rows and the lines of softmaxes with masks, lengths and caps.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "log.h"
#include "tighten.h"
#include "unit/problems.h"
#include "unit/refusal.h"
#include "validate.h"

namespace mygemm {
namespace {

using mygemm_tests::address;
using mygemm_tests::refusal;
using mygemm_tests::softmax;
using mygemm_tests::softmax_backward;

// A legal problem of 24 rows, with everything.
struct Masked {
  SoftmaxProblem problem;
  SoftmaxMasking masking;

  explicit Masked(bool backward)
      : problem(backward ? softmax_backward(24, 8) : softmax(24, 8)),
        masking{.group_rows = 4,
                .batch_groups = 3,
                .softcap = 2.0f,
                .capped_scale = 0.5f,
                .x = {address<void>(3), MYGEMM_R_32F, 8},
                .mask = backward ? nullptr : address<void>(4),
                .mask_type = MYGEMM_R_16F,
                .mask_strides = {0, 32, 8},
                .lengths = address<void>(5),
                .lengths_type = MYGEMM_INDEX_64I,
                .lengths_strides = {3, 1, 0},
                .causal = true,
                .causal_offset = 2} {
    problem.masking = &masking;
  }
};

using Fault = void (*)(Masked&);

std::string sentence(bool backward, Fault make) {
  Masked masked(backward);
  make(masked);
  masked.problem.masking = &masked.masking;
  return refusal(masked.problem);
}
std::string forward(Fault make) { return sentence(false, make); }
std::string backward(Fault make) { return sentence(true, make); }

TEST(ValidateMaskedSoftmax, RefusesEachArgumentWithItsSentence) {
  EXPECT_EQ(forward([](Masked&) {}), "");
  EXPECT_EQ(backward([](Masked&) {}), "");
  EXPECT_EQ(forward([](Masked& m) { m.masking.group_rows = -1; }), "group_rows = -1 is negative");
  EXPECT_EQ(forward([](Masked& m) { m.masking.batch_groups = -2; }),
            "batch_groups = -2 is negative");
  EXPECT_EQ(forward([](Masked& m) { m.masking.softcap = INFINITY; }),
            "softcap = inf is not finite");
  EXPECT_EQ(forward([](Masked& m) { m.masking.softcap = -2.0f; }), "softcap = -2 is negative");
  EXPECT_EQ(forward([](Masked& m) { m.masking.capped_scale = INFINITY; }),
            "scale / softcap = inf is not finite");
  EXPECT_EQ(forward([](Masked& m) { m.masking.lengths_strides.row = -1; }),
            "lengths_stride_row = -1 is negative");
  EXPECT_EQ(backward([](Masked& m) { m.masking.x.ld = 7; }),
            "ldx = 7 is smaller than max(1, cols) = 8");
  EXPECT_EQ(backward([](Masked& m) { m.masking.x.data = nullptr; }), "x is NULL");
  EXPECT_EQ(backward([](Masked& m) { m.masking.softcap = 0.0f, m.masking.x = {}; }), "");
  EXPECT_EQ(
      forward([](Masked& m) { m.masking.mask = static_cast<const char*>(m.masking.mask) + 1; }),
      "mask = 0x100000000001 is not a multiple of 2 bytes");
  EXPECT_EQ(forward([](Masked& m) {
              m.masking.lengths = static_cast<const char*>(m.masking.lengths) + 4;
            }),
            "lengths = 0x200000000004 is not a multiple of 8 bytes");
  for (const int64_t far : {INT64_MAX, INT64_MIN, INT64_MAX / 4}) {
    Masked masked(false);
    masked.masking.mask_strides = {far, far, far};
    masked.masking.mask_stride_col = far;
    EXPECT_EQ(refusal(masked.problem), "mask has elements that do not fit the address space");
  }
}

// The mask's 3 x 4 x 8 elements, wherever its strides lead.
TEST(ValidateMaskedSoftmax, OutputsLieApartFromMasksAndLengths) {
  Masked masked(false);
  const auto* const out = static_cast<const char*>(masked.problem.out.data);
  const int64_t out_bytes = 24 * 8 * 4, mask_bytes = 3 * 4 * 8 * 2;
  const std::string overlaps = "y overlaps the addresses of mask";
  for (const auto& [distance, expected] : {std::pair<int64_t, std::string>{-mask_bytes, ""},
                                           {2 - mask_bytes, overlaps},
                                           {out_bytes - 2, overlaps},
                                           {out_bytes, ""}}) {
    masked.masking.mask = out + distance;
    EXPECT_EQ(refusal(masked.problem), expected) << distance;
  }
  masked.masking.mask = out - 2;
  masked.masking.mask_strides = {-32, 0, -8};
  masked.masking.mask_stride_col = -1;
  EXPECT_EQ(refusal(masked.problem), "");
  masked.masking.mask_stride_col = 1;
  EXPECT_EQ(refusal(masked.problem), overlaps);
  masked.masking.mask = nullptr;
  masked.masking.lengths = out;
  EXPECT_EQ(refusal(masked.problem), "y overlaps the addresses of lengths");
  Masked gradient(true);
  gradient.masking.x.data = static_cast<char*>(gradient.problem.out.data) + 16;
  EXPECT_EQ(refusal(gradient.problem),
            "dx overlaps x (in place needs the same pointer, the same ld and types of one width)");
  gradient.masking.x.data = gradient.problem.out.data;
  EXPECT_EQ(refusal(gradient.problem), "");
}

TEST(MaskedSoftmax, RowsAreCountedInGroupsOfBatches) {
  const Masked masked(false);
  for (int64_t r = 0; r < 24; ++r) {
    const SoftmaxMasking::Place at = masked.masking.place_of(r);
    EXPECT_EQ(at.row, r % 4);
    EXPECT_EQ(at.group, r / 4 % 3);
    EXPECT_EQ(at.batch, r / 12);
  }
  const int64_t far = (int64_t{1} << 40) * 12 + 7;
  const SoftmaxMasking::Place at = masked.masking.place_of(far);
  EXPECT_EQ(at.row, 3);
  EXPECT_EQ(at.group, 1);
  EXPECT_EQ(at.batch, int64_t{1} << 40);
  const SoftmaxMasking one_group{};
  EXPECT_EQ(one_group.place_of(1000).row, 1000);
}

TEST(MaskedSoftmax, ColumnsThatCount) {
  SoftmaxMasking m{.causal = true, .causal_offset = 2};
  EXPECT_EQ(m.valid_columns({0, 0, 0}, 8), 3);
  EXPECT_EQ(m.valid_columns({0, 0, 7}, 8), 8);
  m.causal_offset = -SoftmaxMasking::kMostCausalOffset;
  EXPECT_EQ(m.valid_columns({0, 0, 7}, 8), 0);
  m.causal_offset = SoftmaxMasking::kMostCausalOffset;
  EXPECT_EQ(m.valid_columns({0, 0, int64_t{1} << 61}, 8), 8);
  const int32_t lengths[] = {5, -1, 100};
  m.lengths = lengths;
  m.lengths_strides = {0, 1, 0};
  EXPECT_EQ(m.valid_columns({9, 0, 3}, 8), 5);
  EXPECT_EQ(m.valid_columns({9, 1, 3}, 8), 0);
  EXPECT_EQ(m.valid_columns({9, 2, 3}, 8), 8);
}

TEST(MaskedSoftmax, AMaskingThatChangesNothingIsLeftOut) {
  SoftmaxProblem p = softmax(3, 5);
  SoftmaxMasking m{.group_rows = 2};
  p.masking = &m;
  EXPECT_EQ(tightened(p).masking, nullptr);
  m.empty_rows_are_zero = true;
  EXPECT_EQ(tightened(p).masking, &m);
}

TEST(MaskedSoftmax, IsDescribedInTheWordsOfTheBench) {
  Masked masked(false);
  EXPECT_EQ(describe(masked.problem),
            "softmax --mode softmax --direction forward --rows 24 --cols 8 --xtype f32 --ldx 8 "
            "--ytype f32 --ldy 8 --scale 1 --group-rows 4 --batch-groups 3 --softcap 2 "
            "--mask-type f16 --mask-strides 0,32,8,1 --causal 1 --causal-offset 2 "
            "--lengths-type i64 --lengths-strides 3,1,0");
}

}  // namespace
}  // namespace mygemm
