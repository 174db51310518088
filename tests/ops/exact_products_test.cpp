// Ops tests: products that multiply-adds compute without an error have the same bits on tensor
// cores with operands split into parts that lose nothing, and by the plan's choice for sums too
// short for other kernels on tensor cores.
#include <cmath>
#include <string>
#include <vector>

#include "ops/special_values.h"
#include "support/random.h"

namespace mygemm_tests {
namespace {

class ExactProducts : public SpecialValues {};

// 24 random bits each, of either sign and many magnitudes.
void fill_with_numbers(std::vector<float>* values, uint64_t seed) {
  Random random(seed);
  for (float& x : *values) {
    const auto bits = static_cast<float>(random.integer(1 << 23, (1 << 24) - 1));
    const float sign = random.integer(0, 1) != 0 ? 1.0f : -1.0f;
    x = std::ldexp(sign * bits, static_cast<int>(random.integer(-60, 20)));
  }
}

// Each row of A has one element, a power of two, and each of B's columns in turn.
TEST_P(ExactProducts, OfOneElementScaledByAPowerOfTwo) {
  Factors in_a, in_b;
  in_a.exact = in_b.exact = true;
  fill_with_numbers(&in_a.b_values, 1);
  fill_with_numbers(&in_b.a_values, 2);
  for (int64_t i = 0; i < kM; ++i) {
    in_a.a(i, i * 37 % kK) = std::ldexp(1.0f, static_cast<int>(i % 9) - 4);
  }
  for (int64_t j = 0; j < kN; ++j) in_b.b(j * 53 % kK, j) = j % 2 == 0 ? 1.0f : -0.25f;
  run("one element in a row of A", in_a);
  run("one element in a column of B", in_b);
}

// Integers up to `most_a` and `most_b`, `products` of them in each sum: sums of magnitudes are at
// most 2^23.
Factors integers(int64_t most_a, int64_t most_b, int64_t products) {
  EXPECT_LE(most_a * most_b * products, 1 << 23);
  Random random(static_cast<uint64_t>(most_a));
  Factors f;
  f.exact = true;
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t p = 0; p < products; ++p) {
      f.a(i, (i * 11 + p * kK / products) % kK) =
          static_cast<float>(random.integer(-most_a, most_a));
    }
    f.a(i, i * 11 % kK) = static_cast<float>(most_a - i);
  }
  for (int64_t j = 0; j < kN; ++j) {
    for (int64_t l = 0; l < kK; ++l) {
      f.b(l, j) = static_cast<float>(random.integer(-most_b, most_b));
    }
    f.b(j * 11 % kK, j) = static_cast<float>(most_b - j % 3);
  }
  return f;
}

TEST_P(ExactProducts, OfIntegers) {
  run("12 bits and 11", integers(4095, 2047, 1));
  run("12 bits and 8, eight of them", integers(4095, 255, 8));
  run("16 bits and 7", integers(65535, 127, 1));
  run("7 bits and 16", integers(127, 65535, 1));
  run("8 bits, as many as there are", integers(127, 127, kK));
}

std::vector<std::string> kernels() {
  std::vector<std::string> names = {""};
  for (const std::string& name : row_names(Family::kGemm)) {
    if (name.starts_with("bf16x6_")) names.push_back(name);
  }
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.empty() ? "chosen" : info.param;
}

INSTANTIATE_TEST_SUITE_P(Rows, ExactProducts, ::testing::ValuesIn(kernels()), test_name);

}  // namespace
}  // namespace mygemm_tests
