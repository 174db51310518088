// Tests of the kinds of data that mygemm-bench measures with: each holds what its name says, the
// same in every layout and every time.
#include "distributions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr int64_t kLines = 200, kK = 150;

// Matrix `side` of a kind as lines, one after the other.
std::vector<float> lines_of(const std::string& name, Side side, uint32_t seed = 1) {
  std::vector<float> values(static_cast<size_t>(kLines * kK));
  fill_matrix(distribution(name), seed, side, {kLines, kK, true, kK}, 0, values.data());
  return values;
}

float at(const std::vector<float>& lines, int64_t line, int64_t l) {
  return lines[static_cast<size_t>(line * kK + l)];
}

int64_t count(const std::vector<float>& values, const std::function<bool(float)>& is) {
  return std::count_if(values.begin(), values.end(), is);
}

bool zero(float value) { return value == 0; }
bool nan(float value) { return std::isnan(value); }
bool infinite(float value) { return std::isinf(value); }

// Whether exactly the elements of op(A) for which `there` holds are as `is` says.
void expect_where(const std::string& name, bool (*is)(float),
                  const std::function<bool(int64_t, int64_t)>& there) {
  const std::vector<float> a = lines_of(name, Side::kA);
  for (int64_t line = 0; line < kLines; ++line) {
    for (int64_t l = 0; l < kK; ++l) {
      ASSERT_EQ(is(at(a, line, l)), there(line, l)) << name << ", line " << line << ", " << l;
    }
  }
}

TEST(Distributions, NamesAreUniqueAndFound) {
  const std::vector<std::string> names = distribution_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) EXPECT_EQ(distribution(name).name, name);
  EXPECT_EQ(distribution(kUsualData).errors, Errors32::kRounding);
  EXPECT_THROW(distribution("salt"), std::invalid_argument);
  EXPECT_EQ(documented_names().size(), 12u);
}

TEST(Distributions, FunctionsOfSeedAndPlace) {
  for (const std::string& name : distribution_names()) {
    for (const Side side : {Side::kA, Side::kB}) {
      SCOPED_TRACE(name);
      const std::vector<float> lines = lines_of(name, side);
      // The other layout, in two parts.
      constexpr int64_t kLd = kLines + 3, kPart = 64;
      std::vector<float> columns(static_cast<size_t>(kLd * kK), 7.0f);
      fill_matrix(distribution(name), 1, side, {kPart, kK, false, kLd}, 0, columns.data());
      fill_matrix(distribution(name), 1, side, {kLines - kPart, kK, false, kLd}, kPart,
                  columns.data() + kPart);
      for (int64_t line = 0; line < kLd; ++line) {
        for (int64_t l = 0; l < kK; ++l) {
          const float expected = line < kLines ? at(lines, line, l) : 7.0f;
          const float& got = columns[static_cast<size_t>(line + l * kLd)];
          ASSERT_EQ(std::memcmp(&got, &expected, sizeof got), 0) << line << ", " << l;
        }
      }
    }
  }
  EXPECT_NE(lines_of("normal", Side::kA, 1), lines_of("normal", Side::kA, 2));
  EXPECT_NE(lines_of("normal", Side::kA), lines_of("normal", Side::kB));
}

TEST(Distributions, BoundedKindsAreFiniteAndNotTooSmall) {
  for (const std::string& name : bounded_names()) {
    for (const Side side : {Side::kA, Side::kB}) {
      for (const float value : lines_of(name, side)) {
        ASSERT_TRUE(value == 0 || (std::isnormal(value) && std::fabs(value) < 0x1p63f)) << name;
      }
    }
  }
}

TEST(Distributions, Zeros) {
  constexpr double kElements = static_cast<double>(kLines * kK);
  for (const auto& [name, share] : {std::pair{"sparse", 0.9},
                                    {"sparse99", 0.99},
                                    {"sparse999", 0.999},
                                    {"all_zero", 1.0},
                                    {"relu", 0.5}}) {
    const double zeros = static_cast<double>(count(lines_of(name, Side::kA), zero));
    EXPECT_NEAR(zeros / kElements, share, 0.01) << name;
  }
  const std::vector<float> blocks = lines_of("zero_blocks", Side::kA);
  EXPECT_GT(count(blocks, zero), 0);
  EXPECT_LT(count(blocks, zero), kLines * kK);
  for (int64_t line = 0; line < kLines; ++line) {
    for (int64_t l = 0; l < kK; ++l) {
      ASSERT_EQ(zero(at(blocks, line, l)), zero(at(blocks, line / 64 * 64, l / 64 * 64)));
    }
  }
  expect_where("zero_rows", zero, [](int64_t line, int64_t) { return line % 10 == 0; });
  expect_where("zero_columns", zero, [](int64_t, int64_t) { return false; });
  const std::vector<float> b = lines_of("zero_columns", Side::kB);
  EXPECT_EQ(count(b, zero), (kLines + 2) / 3 * kK);
  EXPECT_EQ(at(b, 3, 5), 0);
  expect_where("diagonal", zero, [](int64_t line, int64_t l) { return line % kK != l; });
}

TEST(Distributions, OnesAndProbabilities) {
  for (const char* name : {"one_hot", "permutation"}) {
    const std::vector<float> a = lines_of(name, Side::kA);
    std::set<int64_t> places;
    for (int64_t line = 0; line < kLines; ++line) {
      int64_t ones = 0;
      for (int64_t l = 0; l < kK; ++l) {
        if (zero(at(a, line, l))) continue;
        EXPECT_EQ(at(a, line, l), 1);
        ++ones;
        if (line < kK) places.insert(l);
      }
      EXPECT_EQ(ones, 1) << name;
    }
    if (std::string(name) == "permutation") {
      EXPECT_EQ(places.size(), static_cast<size_t>(kK));
    }
  }
  const std::vector<float> a = lines_of("softmax", Side::kA);
  for (int64_t line = 0; line < kLines; ++line) {
    double sum = 0;
    for (int64_t l = 0; l < kK; ++l) sum += at(a, line, l);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Distributions, BitsAndExponents) {
  for (const auto& [name, most] : {std::pair{"int8", 127}, {"int12", 2047}, {"int16", 32767}}) {
    float largest = 0;
    for (const float value : lines_of(name, Side::kB)) {
      ASSERT_EQ(value, std::nearbyint(value));
      largest = std::max(largest, std::fabs(value));
    }
    EXPECT_LE(largest, static_cast<float>(most));
    EXPECT_GT(largest, 0.99f * static_cast<float>(most));
  }
  EXPECT_EQ(count(lines_of("denormal", Side::kA),
                  [](float value) { return std::fpclassify(value) == FP_SUBNORMAL; }),
            kLines * kK);
  const std::vector<float> usual = lines_of("uniform_signed", Side::kB);
  const std::vector<float> tiny = lines_of("tiny", Side::kB), huge = lines_of("huge", Side::kB);
  const std::vector<float> columns = lines_of("graded_columns", Side::kB);
  EXPECT_EQ(tiny[77], std::ldexp(usual[77], -60));
  EXPECT_EQ(huge[77], std::ldexp(usual[77], 60));
  EXPECT_EQ(at(columns, 80, 7), std::ldexp(at(usual, 80, 7), -10));
  EXPECT_GT(count(lines_of("mixed_exponents", Side::kA),
                  [](float value) { return std::fabs(value) > 0x1p28f; }),
            100);
}

TEST(Distributions, ElementsThatAreNotFinite) {
  expect_where("one_nan", nan, [](int64_t line, int64_t l) { return line == 0 && l == kK / 2; });
  expect_where("nan_rows", nan, [](int64_t line, int64_t) { return line % 100 == 0; });
  expect_where("one_inf", infinite,
               [](int64_t line, int64_t l) { return line == 0 && l == kK / 2; });
  expect_where("inf_row", infinite, [](int64_t line, int64_t) { return line == 0; });
  expect_where("all_inf", infinite, [](int64_t, int64_t) { return true; });
  EXPECT_EQ(count(lines_of("all_inf", Side::kB), infinite), kLines * kK);
  const auto nans = static_cast<double>(count(lines_of("half_nan", Side::kA), nan));
  EXPECT_NEAR(nans / static_cast<double>(kLines * kK), 0.5, 0.01);
  for (const char* name : {"one_nan", "nan_rows", "half_nan", "one_inf", "inf_row"}) {
    EXPECT_EQ(count(lines_of(name, Side::kB), [](float value) { return !std::isfinite(value); }),
              0);
  }
}

}  // namespace
}  // namespace bench
